#!/usr/bin/env node
/** `cairn …`: passes the arguments, environment and terminal of this process to the program. Composition root only. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import * as modules from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { EXIT } from './exit.ts';
import { nodeRefusal } from './node-version.ts';
import { calledIn, projectOf } from './project.ts';
import type { ProgramEnd, Terminal, World } from './world.ts';

/** The manifest is beside `src/` and beside the built `lib/`. */
const { version, engines } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { readonly version: string; readonly engines: { readonly node: string } };

const refusal = nodeRefusal(process.versions.node, engines.node);
if (refusal !== undefined) {
  process.stderr.write(refusal);
  process.exit(EXIT.usage);
}
modules.enableCompileCache?.();
const { run } = await import('./program.ts');

// Node 22 warns in the middle of `cairn dev` that its SQLite is experimental, which a user cannot change.
const shown = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') for (const show of shown) show(warning);
});

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
process.once('SIGTERM', () => interrupted.abort());
// A reader may close the pipe early (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const cwd = calledIn(process.env, process.cwd());

const MAX_PROGRAM_OUTPUT_BYTES = 16 * 1024 * 1024;

const world: World = {
  version,
  env: process.env,
  cwd,
  projectDir: projectOf([cwd, process.cwd()], existsSync),
  stdout: terminalOf(process.stdout),
  stderr: terminalOf(process.stderr),
  interrupted: interrupted.signal,
  fetch: (url, init) => fetch(url, init),
  readFile: (path) => readFileSync(path, 'utf8'),
  async readStdin() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  },
  ask,
  runProgram,
  nodeVersion: process.versions.node,
  now: Date.now,
  token: () => randomBytes(16).toString('hex'),
  sleep: (ms, signal) => setTimeout(ms, undefined, signal && { signal }).catch(() => {}),
};

process.exitCode = await run(process.argv.slice(2), world);

async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.once('SIGINT', () => interrupted.abort());
  // Ctrl-D ends the input without an answer.
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question, { signal: interrupted.signal }), closed]);
  } finally {
    lines.close();
  }
}

function runProgram(command: string, args: readonly string[], cwd: string): Promise<ProgramEnd> {
  const options = {
    cwd,
    signal: interrupted.signal,
    maxBuffer: MAX_PROGRAM_OUTPUT_BYTES,
    // npm is a script there.
    shell: process.platform === 'win32',
  };
  return new Promise((resolve) =>
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined;
      resolve({ code, output: `${stdout}${stderr}` || (error?.message ?? '') });
    }),
  );
}

function terminalOf(stream: NodeJS.WriteStream): Terminal {
  return {
    write: (text) => void stream.write(text),
    isTty: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
  };
}
