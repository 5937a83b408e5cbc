//! Writes the manual pages and shell completions of both programs: `kyokumen-release FOLDER`.

use std::path::Path;
use std::{env, fs, io};

use clap::ValueEnum;
use clap_complete::{Shell, generate_to};

fn main() -> io::Result<()> {
    let Some(folder) = env::args_os().nth(1) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a folder is expected"));
    };
    let (man, completions) =
        (Path::new(&folder).join("man"), Path::new(&folder).join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    for mut command in kyokumen::cli::command_lines() {
        let name = command.get_name().to_owned();
        for &shell in Shell::value_variants() {
            generate_to(shell, &mut command, &name, &completions)?;
        }
        // One page for each subcommand, as `man kyokumen-convert`.
        clap_mangen::generate_to(command, &man)?;
    }
    Ok(())
}
