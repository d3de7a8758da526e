/** Rules against tests that fail at random on a slow machine. */
import { codeOf } from './code.ts';
import type { SourceFile } from './rules.ts';

interface Hazard {
  readonly pattern: RegExp;
  readonly what: string;
  /** The file that contains the safe implementation. */
  readonly home?: string;
}

const HAZARDS: readonly Hazard[] = [
  {
    // An unknown pid would be 0, which means the process group of the tests and of their caller.
    pattern: /(?<![\w.])(?:globalThis\.)?process\.kill\((?!\)|process\.pid\b)/,
    what: 'a signal to a process that may not be known: use test/support/processes.ts',
    home: 'test/support/processes.ts',
  },
  {
    pattern: /expect\(\s*await tryGet\b|\(\s*await tryGet\b[^;]*\)(?:!|\?\.|\s*\?\?)/,
    what: 'one look at a cloud that may be too busy to answer: use getJson, or tryGet within eventually',
  },
];

/** The limit of a test or a hook behind its function, ms. */
const LIMIT = /^ *\}, (\d[\d_]{3,})\);$/gm;
/** `testTimeout` of jest.config.js. */
const USUAL_MS = 240_000;

export function byChance({ path, text }: SourceFile): string[] {
  if (!path.startsWith('test/')) return [];
  const code = codeOf(text);
  const limits = [...code.matchAll(LIMIT)].map(([, ms = '']) => Number(ms.replaceAll('_', '')));
  return [
    ...HAZARDS.filter(({ pattern, home }) => home !== path && pattern.test(code)).map(({ what }) => what),
    ...limits.filter((ms) => ms < USUAL_MS).map((ms) => `a limit of ${ms} ms, below that of any test`),
  ].map((what) => `${path}: ${what}`);
}
