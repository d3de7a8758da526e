import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ERROR_CODES } from '../../../packages/cairn/src/core/errors.ts';
import { PROBLEM_CODES } from '../../../packages/cairn/src/core/integrity/problems.ts';
import { readDocument } from '../snippets.ts';

const PACKAGES = join(import.meta.dirname, '../../../packages');
const RECORDING = ['cairn/src/engine', 'cairn/src/operations', 'cairn/src/core/decisions', 'agents/src'];

/** Codes in the engine's sources that only errors of runs and steps have. */
function recordedCodes(): string[] {
  const files = RECORDING.flatMap((folder) =>
    readdirSync(join(PACKAGES, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(PACKAGES, folder, name), 'utf8')),
  );
  return files.flatMap((text) =>
    [
      ...text.matchAll(
        /'((?:STEP|RUN|ITEMS|CHILD|EVENT|HEARTBEAT|APPROVAL|EFFECT|FLOW|LOOP|SET|BUDGET|AGENT)_[A-Z_]+)'/g,
      ),
    ].map(([, code = '']) => code),
  );
}

const page = readDocument('docs/operations.md');
const sections = new Map(
  [...page.matchAll(/^### ([A-Z_]+)\n\n([\s\S]*?)(?=^#|$(?![\s\S]))/gm)].map(([, code = '', text = '']) => [
    code,
    text,
  ]),
);
const codes = [...new Set([...Object.keys(ERROR_CODES), ...PROBLEM_CODES, ...recordedCodes()])];

test('the codes of the engine are found in its sources', () => {
  expect(recordedCodes()).toEqual(
    expect.arrayContaining([
      'STEP_FAILED',
      'STEP_TIMEOUT',
      'RUN_TIMEOUT',
      'ITEMS_FAILED',
      'SET_CHANGED',
      'AGENT_CUT_OFF',
    ]),
  );
});

test.each(codes)('docs/operations.md has a remedy for %s', (code) => {
  expect(sections.get(code)?.trim().length ?? 0).toBeGreaterThan(40);
});

test('docs/operations.md has no section for a code that does not exist', () => {
  expect([...sections.keys()].filter((code) => !codes.includes(code))).toEqual([]);
});

test('each section of an error has its HTTP status', () => {
  for (const [code, { httpStatus }] of Object.entries(ERROR_CODES)) {
    expect([code, sections.get(code)?.slice(0, 'Status 409.'.length)]).toEqual([
      code,
      expect.stringMatching(new RegExp(`^Status ${httpStatus}[.,]`)),
    ]);
  }
});

test('docs/operations.md has a remedy for every problem that doctor finds', () => {
  const own = ['deployment-findings', 'store-findings', 'work-findings', 'observe'];
  const sources = [
    'packages/client/src/health/findings.ts',
    ...own.map((name) => `packages/cairn/src/operations/diagnosis/${name}.ts`),
  ];
  // The first argument may choose between codes.
  const wrong = sources.flatMap((path) =>
    [...readDocument(path).matchAll(/\bwrong\(\s*([^,]+),/g)].flatMap(([, first = '']) =>
      [...first.matchAll(/'([A-Z_]+)'/g)].map(([, code = '']) => code),
    ),
  );
  const [, table = ''] = /^\| `doctor` says \| do \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const documented = [...table.matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm)].flatMap(([, codes = '']) =>
    [...codes.matchAll(/[A-Z_]+/g)].map(([code]) => code),
  );
  expect(wrong.length).toBeGreaterThan(20);
  expect(documented.toSorted()).toEqual([...new Set(wrong)].toSorted());
});
