//! `kyokumen man` and `kyokumen completions`: manual pages and shell completions.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use super::message::say;
use crate::cli::exit::ExitStatus;

/// Print shell completions
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  bash: kyokumen completions bash > ~/.local/share/bash-completion/completions/kyokumen
  zsh: kyokumen completions zsh > ~/.zfunc/_kyokumen (add ~/.zfunc to fpath before compinit)
  fish: kyokumen completions fish > ~/.config/fish/completions/kyokumen.fish
  PowerShell: kyokumen completions powershell >> $PROFILE")]
pub(super) struct CompletionsArgs {
    /// Shell to complete for
    shell: Shell,

    /// Program to complete [default: kyokumen]
    #[arg(
        long,
        value_name = "kyokumen|gen-filter|kyokumen-usi",
        default_value = "kyokumen",
        hide_default_value = true,
        hide_possible_values = true
    )]
    program: Program,
}

/// One of the programs.
#[derive(Clone, Copy, ValueEnum)]
enum Program {
    Kyokumen,
    GenFilter,
    KyokumenUsi,
}

/// Write manual pages to a folder, one for each command
///
/// Pages for `gen-filter` and `kyokumen-usi` are included. Existing pages are replaced.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen man ~/.local/share/man/man1
  man kyokumen-convert")]
pub(super) struct ManArgs {
    /// Folder for the pages, created if missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn completions(
    args: &CompletionsArgs,
    programs: [Command; 3],
) -> anyhow::Result<ExitStatus> {
    let [kyokumen, gen_filter, usi] = programs;
    let mut program = match args.program {
        Program::Kyokumen => kyokumen,
        Program::GenFilter => gen_filter,
        Program::KyokumenUsi => usi,
    };
    let (name, mut script) = (program.get_name().to_owned(), Vec::new());
    clap_complete::generate(args.shell, &mut program, name, &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitStatus::Done)
}

pub(super) fn man(args: &ManArgs, programs: [Command; 3]) -> anyhow::Result<ExitStatus> {
    let folder = args.folder.display();
    let failed = || format!("cannot write manual pages to {folder}");
    fs::create_dir_all(&args.folder).with_context(failed)?;
    for program in programs {
        clap_mangen::generate_to(program, &args.folder).with_context(failed)?;
    }
    say!("wrote manual pages to {folder}");
    Ok(ExitStatus::Done)
}
