import { describe, expect, test } from '@jest/globals';
import { diagnosisIn, reportsError } from '../../../packages/local/src/dev/compiler-output.ts';
import { forMachine, forPerson, type Paint, readLine } from '../../../packages/local/src/dev/log-line.ts';
import { namesNoFile, readableError } from '../../../packages/local/src/dev/readable-error.ts';

const PLAIN: Paint = (_, text) => text;
const TAGGED: Paint = (tone, text) => (text === '' ? '' : `<${tone}>${text}</>`);
const AT = { source: 'cairn', at: Date.UTC(2026, 0, 31, 8, 30, 5) };

const printed = (line: object | string) =>
  forPerson(readLine(typeof line === 'string' ? line : JSON.stringify(line)), AT, PLAIN);

describe('a line for a person', () => {
  test.each([
    ['any text', 'charging', '08:30:05Z  cairn  charging'],
    ['JSON of something else', '{"a":1}', '08:30:05Z  cairn  {"a":1}'],
    ['a brace', '{ not json', '08:30:05Z  cairn  { not json'],
    [
      'a line that a body logs, with run and step, and further members',
      {
        severity: 'INFO',
        message: 'step_log: charging',
        event: 'step_log',
        runId: 'run_a',
        stepId: 'charge',
        attempt: 1,
        cents: 5,
      },
      '08:30:05Z  cairn  run_a  charge  charging  cents=5',
    ],
    [
      'a later attempt of an item',
      {
        severity: 'WARNING',
        message: 'step_attempt_failed: no',
        event: 'step_attempt_failed',
        runId: 'run_a',
        stepId: 'each',
        item: 3,
        attempt: 2,
        code: 'X',
      },
      '08:30:05Z  cairn  run_a  each[3] (attempt 2)  step_attempt_failed: no  code=X',
    ],
    [
      'a change of status',
      {
        severity: 'INFO',
        message: 'run_transition',
        event: 'run_transition',
        runId: 'run_a',
        from: 'pending',
        to: 'running',
        tenantId: 't',
        seq: 2,
      },
      '08:30:05Z  cairn  run_a  pending → running',
    ],
    [
      'an end',
      {
        severity: 'INFO',
        message: 'run_completed',
        event: 'run_completed',
        runId: 'run_a',
        type: 'order',
        status: 'failed',
        durationMs: 12,
      },
      '08:30:05Z  cairn  run_a  order failed after 12 ms',
    ],
  ])('%s', (_, line, text) => {
    expect(printed(line)).toBe(text);
  });

  test('is followed by the causes of the error and the stack frames in the user’s code, relative to its folder', () => {
    const stack = [
      'Error: no funds',
      'caused by: Error: the bank is closed',
      '    at charge (file:///shop/functions/src/charge.ts:7:11)',
      '    at runBody (/shop/node_modules/cairn/lib/body.js:1:1)',
      '    at process.processTicksAndRejections (node:internal/process/task_queues:103:5)',
    ].join('\n');
    const line = readLine(
      JSON.stringify({
        severity: 'WARNING',
        message: 'step_attempt_failed: no funds',
        runId: 'run_a',
        stack,
      }),
    );
    expect(forPerson(line, { ...AT, root: '/shop' }, PLAIN)).toBe(
      '08:30:05Z  cairn  run_a  step_attempt_failed: no funds\n    caused by: Error: the bank is closed\n    at charge (functions/src/charge.ts:7:11)',
    );
    expect(forPerson(line, AT, PLAIN)).toContain('(/shop/functions/src/charge.ts:7:11)');
    expect(JSON.parse(forMachine(line, AT)).stack).toBe(stack);
  });

  test('omits lines and members that are irrelevant to steps', () => {
    expect(
      printed({ severity: 'INFO', message: 'run_claimed', event: 'run_claimed', runId: 'r' }),
    ).toBeUndefined();
  });

  test('has points in time as text', () => {
    const line = {
      severity: 'WARNING',
      message: 'orphan_detected',
      lastHeartbeat: 1_795_936_743_091,
      epoch: 2,
    };
    expect(printed({ ...line, gapMs: 1_795_936_743_091 })).toMatch(
      /orphan_detected {2}lastHeartbeat=2026-11-29T07:19:03.091Z gapMs=1795936743091$/,
    );
  });

  test('is coloured by severity', () => {
    const line = readLine('{"severity":"ERROR","message":"no","runId":"run_a","stepId":"s"}');
    expect(forPerson(line, AT, TAGGED)).toBe(
      '<dim>08:30:05Z</>  <dim>cairn</>  <busy>run_a</>  <bold>s</>  <bad>no</>',
    );
  });
});

test('a line for a program has time, source, severity, message and all logged members', () => {
  const line = readLine('{"severity":"CRITICAL","message":"no","event":"run_claimed","runId":"run_a"}');
  expect(JSON.parse(forMachine(line, { source: 'default', at: 0 }))).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    source: 'default',
    severity: 'ERROR',
    message: 'no',
    event: 'run_claimed',
    runId: 'run_a',
  });
});

describe('the reason why functions could not be loaded', () => {
  test('paths are relative to the project, and frames of packages and Node are omitted', () => {
    const text = [
      'the functions could not be loaded:',
      "TypeError: workflow 'order': step 'charge' is there twice",
      '    at define (file:///shop/node_modules/cairn/lib/index.js:1:1)',
      '    at file:///shop/functions/src/order.ts:7:3',
      '    at ModuleJob.run (node:internal/modules/esm/module_job:430:25)',
    ].join('\n');
    expect(readableError(text, '/shop')).toBe(
      "TypeError: workflow 'order': step 'charge' is there twice\n    at functions/src/order.ts:7:3",
    );
  });

  test('says what to do before the place, and omits frames of Cairn, with their number if requested', () => {
    const packages = new URL('../../../packages/', import.meta.url).href;
    const text = [
      'the functions could not be loaded:',
      `CairnError: workflow 'order': step 'charge': 'timeout' "soon" is not a duration`,
      'Use an integer and a unit.',
      `    at parseDuration (${packages}cairn/src/core/duration.ts:24:9)`,
      '    at file:///shop/functions/src/order.ts:7:3',
      '    at ModuleJob.run (node:internal/modules/esm/module_job:430:25)',
    ].join('\n');
    const lines = [
      `workflow 'order': step 'charge': 'timeout' "soon" is not a duration`,
      'Use an integer and a unit.',
      '    at functions/src/order.ts:7:3',
    ];
    expect(readableError(text, '/shop').split('\n')).toEqual(lines);
    const counted = '    … 2 frames of Cairn, Node and packages (--verbose)';
    expect(readableError(text, '/shop', '(--verbose)').split('\n')).toEqual([...lines, counted]);
  });

  test('the position of a TypeScript error is kept; for a JavaScript error the files are checked', () => {
    const text = 'file:///shop/src/b.ts:2\nconst y = {;\n           ^\nSyntaxError: Unexpected token';
    expect(readableError(text, '/shop')).toMatch(/^src\/b\.ts:2\n/);
    expect(namesNoFile(text)).toBe(false);
    expect(
      namesNoFile("the functions could not be loaded:\nSyntaxError: Unexpected token ';'\n    at x"),
    ).toBe(true);
  });
});

test.each([
  ["src/a.ts(2,3): error TS2322: Type 'x' is not.", { isError: true }],
  ["  Type 'x' is not.", { isError: true }],
  ['8:30:05 AM - Found 2 errors. Watching for file changes.', { text: '2 errors', isError: false }],
  ['8:30:05 AM - Found 1 error. Watching for file changes.', { text: '1 error', isError: false }],
  ['8:30:05 AM - Found 0 errors. Watching for file changes.', { text: 'no errors', isError: false }],
  ['8:30:05 AM - Starting compilation in watch mode...', undefined],
  ['', undefined],
])('the compiler says: %s', (line, diagnosis) => {
  if (diagnosis) expect(diagnosisIn(line)).toMatchObject(diagnosis);
  else expect(diagnosisIn(line)).toBeUndefined();
});

test.each([
  ['2:31:07 PM - Found 0 errors. Watching for file changes.', false],
  ['built without errors in 12 ms', false],
  ['2:31:07 PM - Found 2 errors. Watching for file changes.', true],
  ['✘ [ERROR] Could not resolve "./order"', true],
  ['terror.ts 12 kb', false],
])('the line %j of a build is an error: %p', (line, isError) => {
  expect(reportsError(line)).toBe(isError);
});
