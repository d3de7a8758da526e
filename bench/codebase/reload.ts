/** Measures the time from an edit under `cairn dev` to the first response of the edited code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { median, rounded } from '../statistics.ts';
import { editedTo, publishedCodebase, WORKFLOWS } from './published.ts';

const EDITS = 10;
/** Edits that are not measured, because the cloud is still warming up. */
const WARM_UP = 2;
const LOOK_MS = 5;
/** Pause between two edits, like a person typing. */
const THINK_MS = 1_000;
const LIMIT_MS = 120_000;
/** Most time, ms. */
export const SERVED_WITHIN_MS = 1_000;

export interface Reload {
  readonly workflows: number;
  /** From the write of the file to the answer, ms. */
  readonly medianMs: number;
  readonly longestMs: number;
}

/** @throws Error if the cloud does not start, or an edit is not served */
export async function reload(): Promise<Reload> {
  using codebase = publishedCodebase();
  const words = ['dev', '--json', '--data', 'memory', '--port', '0', '--no-types'];
  const child = spawn(process.execPath, [codebase.cli, ...words], {
    cwd: codebase.project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const url = await Promise.race([
      readyIn(child.stdout),
      ended.then(() => Promise.reject(new Error('cairn dev ended before it was ready'))),
    ]);
    const served = async (nth: number) => {
      const until = performance.now() + LIMIT_MS;
      while ((await answerOf(url)) !== String(nth)) {
        if (performance.now() > until) throw new Error(`edit ${nth} was not served within ${LIMIT_MS} ms`);
        await delay(LOOK_MS);
      }
    };
    await served(0);
    const times: number[] = [];
    for (let nth = 1; nth <= WARM_UP + EDITS; nth += 1) {
      await delay(THINK_MS);
      const began = performance.now();
      writeFileSync(join(codebase.folder, 'edited.js'), editedTo(nth));
      await served(nth);
      if (nth > WARM_UP) times.push(performance.now() - began);
    }
    return {
      workflows: WORKFLOWS,
      medianMs: rounded(median(times), 0),
      longestMs: rounded(Math.max(...times), 0),
    };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** The URL of the function `edited`. Reads the output to its end, because a full pipe would block the cloud. */
function readyIn(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    createInterface(output).on('line', (line) => {
      const report = JSON.parse(line) as { event?: string; functionsUrl?: string };
      if (report.event === 'ready') resolve(`${report.functionsUrl}/edited`);
    });
  });
}

async function answerOf(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) })).text();
}
