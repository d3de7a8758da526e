/** Measures the CPU time of the first response of a cold instance with the deployed bundle, without a local cloud or a store. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rounded } from '../statistics.ts';

const ROOT = join(import.meta.dirname, '../..');
const STARTS = 5;
/** Most CPU time from the first line of the module to the first answer, ms. */
export const FIRST_ANSWER_MS = 400;
const ANSWER_LIMIT_MS = 60_000;

/** Each request needs no store: an invalid key, a missing signature. */
const ENDPOINTS = [
  { name: 'api', method: 'GET', path: '/v1/runs' },
  { name: 'slackWebhook', method: 'POST', path: '/' },
] as const;

export interface ColdStart {
  readonly name: string;
  readonly status: number;
  /** Median CPU time, ms: to load the module, and from the request to its response. */
  readonly loadMs: number;
  readonly answerMs: number;
}

/** @throws Error if an instance does not answer */
export function coldStarts(): readonly ColdStart[] {
  mkdirSync(join(ROOT, '.cairn'), { recursive: true });
  // Inside the project, so that the bundle finds the packages that the platform installs.
  const folder = mkdtempSync(join(ROOT, '.cairn/cold-'));
  try {
    run(join(ROOT, 'scripts/build-functions.mjs'), folder);
    return ENDPOINTS.map(({ name, method, path }) => {
      const module = join(folder, 'index.js');
      const starts = Array.from({ length: STARTS }, () =>
        run(join(import.meta.dirname, 'instance.mjs'), module, name, method, path),
      ).map((line) => JSON.parse(line) as Omit<ColdStart, 'name'>);
      const middle = (of: (start: Omit<ColdStart, 'name'>) => number) =>
        rounded(starts.map(of).toSorted((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0, 0);
      return {
        name,
        status: starts[0]?.status ?? 0,
        loadMs: middle(({ loadMs }) => loadMs),
        answerMs: middle(({ answerMs }) => answerMs),
      };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns the last line of the output */
function run(...words: readonly string[]): string {
  const env = {
    PATH: process.env.PATH,
    GCLOUD_PROJECT: 'demo-cold',
    FIRESTORE_EMULATOR_HOST: '127.0.0.1:1',
    SLACK_SIGNING_SECRET: 'secret',
    GITHUB_WEBHOOK_SECRET: 'secret',
    GITHUB_TOKEN: 'none',
  };
  const ended = spawnSync(process.execPath, words, { env, encoding: 'utf8', timeout: ANSWER_LIMIT_MS });
  if (ended.status !== 0) throw new Error(`${words.join(' ')} ended with ${ended.status}: ${ended.stderr}`);
  return ended.stdout.trim().split('\n').at(-1) ?? '';
}
