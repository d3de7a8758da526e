import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_FINDINGS,
  type ReviewFinding,
  reviewFile,
} from '../../../functions/src/workflows/review-pull-request/file-review.ts';
import { addedLines } from '../../../functions/src/workflows/review-pull-request/patch.ts';
import {
  type ChangedFile,
  MAX_PATCH_CHARS,
  ReviewRequest,
} from '../../../functions/src/workflows/review-pull-request/request.ts';
import { eventWith } from './pull-request-events.ts';

function fileWith(changes: Partial<ChangedFile>): ChangedFile {
  return { filename: 'src/price.ts', status: 'modified', additions: 1, deletions: 0, ...changes };
}

const problem = (what: string, line: number): ReviewFinding => ({ severity: 'problem', what, line });
const warning = (what: string, line?: number): ReviewFinding => ({
  severity: 'warning',
  what,
  ...(line === undefined ? {} : { line }),
});
const note = (what: string): ReviewFinding => ({ severity: 'note', what });

const adding = (...lines: string[]) =>
  ['@@ -1,0 +10,9 @@ export', ...lines.map((line) => `+${line}`)].join('\n');

describe('the added lines of a patch', () => {
  test('are counted in the new file, over several hunks', () => {
    const patch = [
      '@@ -1,3 +1,4 @@',
      ' kept',
      '-gone',
      '+new 2',
      '+new 3',
      ' kept',
      '@@ -40 +41,2 @@ function f() {',
      ' kept',
      '+new 42',
      '\\ No newline at end of file',
    ].join('\n');
    expect(addedLines(patch)).toEqual([
      { line: 2, text: 'new 2' },
      { line: 3, text: 'new 3' },
      { line: 42, text: 'new 42' },
    ]);
  });

  test('of any text are lines of that text, without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('+', '-', '@', ' ', '1', '\n', ',', 'x') }), (patch) => {
        const plus = patch.split('\n').filter((line) => line.startsWith('+'));
        const added = addedLines(patch);
        expect(added.length).toBeLessThanOrEqual(plus.length);
        for (const { line } of added) expect(Number.isSafeInteger(line)).toBe(true);
      }),
    );
  });
});

describe('a changed file', () => {
  test.each<[string, Partial<ChangedFile>, ReviewFinding]>([
    ['with a conflict marker', { patch: adding('<<<<<<< HEAD') }, problem('contains a conflict marker', 10)],
    [
      'with a private key',
      { patch: adding('', '-----BEGIN RSA PRIVATE KEY-----') },
      problem('looks like a private key', 11),
    ],
    [
      'with a token',
      { patch: adding(`const t = 'ghp_${'a'.repeat(36)}';`) },
      problem('looks like an access token', 10),
    ],
    [
      // The focus stands in the text of a pretended patch: it is what the review has to find.
      'with a focused test',
      { filename: 'src/price.test.ts', patch: adding("test.only('x', f);") },
      warning('runs only this test', 10),
    ],
    ['with a breakpoint', { patch: adding('  debugger;') }, warning('contains a breakpoint', 10)],
    ['of the CI', { filename: '.github/workflows/ci.yml' }, warning('changes the permissions of the CI')],
    ['that was a test', { filename: 'test/a.test.ts', status: 'removed' }, warning('a test is removed')],
    [
      'that migrates data',
      { filename: 'db/migrations/7.sql', patch: '' },
      warning('changes the format of stored data'),
    ],
    ['that is long', { additions: 501, patch: adding('x') }, note('large change')],
    [
      'without a text',
      { filename: 'logo.png' },
      note('GitHub provides no diff: the file is binary or very large'),
    ],
  ])('%s is reported', (_name, changes, finding) => {
    const { filename, findings } = reviewFile(fileWith(changes));
    expect(filename).toBe(changes.filename ?? 'src/price.ts');
    expect(findings).toContainEqual(finding);
  });

  test.each<[string, Partial<ChangedFile>]>([
    ['with ordinary lines', { patch: adding('const a = b;', '=======', 'it.onlyIf(c)') }],
    // Likewise text of a patch, of a file that is no test.
    ['whose focused test is no test', { patch: adding("test.only('x', f);") }],
    ['that only lost what would be found', { patch: '@@ -1 +0,0 @@\n-debugger;' }],
    ['that is removed and no test', { status: 'removed' }],
    ['that was only renamed', { status: 'renamed', additions: 0 }],
  ])('%s is not reported', (_name, changes) => {
    expect(reviewFile(fileWith(changes)).findings).toEqual([]);
  });

  test('lists a bounded number of findings, the worst first, and never the secret itself', () => {
    const secret = `ghp_${'z'.repeat(36)}`;
    const patch = adding(...Array.from({ length: 50 }, () => 'debugger;'), `use('${secret}')`);
    const { findings } = reviewFile(fileWith({ patch }));
    expect(findings).toHaveLength(MAX_FINDINGS);
    expect(findings[0]).toEqual({ severity: 'problem', what: 'looks like an access token', line: 60 });
    expect(JSON.stringify(findings)).not.toContain(secret);
  });
});

describe('the input', () => {
  test('is a webhook payload, or one with files and options', () => {
    expect(ReviewRequest.parse(eventWith())).toMatchObject({ files: [], signOff: 'risky' });
    const files = [fileWith({ patch: 'x'.repeat(MAX_PATCH_CHARS + 1) })];
    const parsed = ReviewRequest.parse({ ...eventWith(), files, signOff: 'never' });
    expect(parsed.signOff).toBe('never');
    expect(parsed.files[0]?.patch).toHaveLength(MAX_PATCH_CHARS);
  });

  test.each([
    ['a thousand and one files', { files: Array.from({ length: 1_001 }, () => fileWith({})) }],
    ['a file without a name', { files: [{ ...fileWith({}), filename: '' }] }],
    ['another wish', { signOff: 'sometimes' }],
  ])('with %s is refused', (_name, more) => {
    expect(ReviewRequest.safeParse({ ...eventWith(), ...more }).success).toBe(false);
  });
});
