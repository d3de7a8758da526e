/**
 * Measures how long `firebase deploy` takes to discover a codebase with many workflows: the SDK loads the module and lists its
 * functions.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { median, rounded } from '../statistics.ts';
import { publishedCodebase, ROOT, WORKFLOWS } from './published.ts';

const TIMES = 5;
/** Most time for the whole process, ms. */
export const DISCOVERED_WITHIN_MS = 2_000;
const LIMIT_MS = 120_000;

export interface Discovery {
  readonly workflows: number;
  /** Duration of the process, ms. */
  readonly medianMs: number;
  readonly longestMs: number;
}

/** @throws Error if the codebase is not discovered */
export function discovery(): Discovery {
  using codebase = publishedCodebase();
  const times = Array.from({ length: TIMES }, () => discoveredIn(codebase.folder));
  return {
    workflows: WORKFLOWS,
    medianMs: rounded(median(times), 0),
    longestMs: rounded(Math.max(...times), 0),
  };
}

/** @returns how long the process took, ms */
function discoveredIn(codebase: string): number {
  const sdk = join(ROOT, 'node_modules/firebase-functions');
  const { bin } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const output = join(codebase, 'functions.yaml');
  const env = {
    PATH: process.env.PATH,
    GCLOUD_PROJECT: 'demo-discovery',
    FIREBASE_CONFIG: '{"projectId":"demo-discovery"}',
    FUNCTIONS_CONTROL_API: 'true',
    FUNCTIONS_MANIFEST_OUTPUT_PATH: output,
  };
  const began = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(sdk, bin['firebase-functions'] ?? ''), codebase],
    { cwd: codebase, env, encoding: 'utf8', timeout: LIMIT_MS },
  );
  const tookMs = performance.now() - began;
  if (status !== 0) throw new Error(`the codebase is not discovered: ${stderr}`);
  const { endpoints } = JSON.parse(readFileSync(output, 'utf8')) as { endpoints: object };
  if (!('cairn-drive' in endpoints)) throw new Error(`it found ${Object.keys(endpoints).join(', ')}`);
  rmSync(output);
  return tookMs;
}
