import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { jsonLog, type LogSeverity } from '../../packages/cairn/src/platform/log.ts';

function captured(least: LogSeverity = 'DEBUG') {
  const lines: string[] = [];
  const log = jsonLog({ least: () => least, write: (line) => void lines.push(line) });
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('each line is one JSON object with the severity Cloud Logging knows', () => {
  const { log, lines, entries } = captured();
  log.debug('a');
  log.info('run_created', { runId: 'run_x', text: 'two\nlines' });
  log.warn('c');
  log.error('d');
  expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
  expect(entries().map(({ severity }) => severity)).toEqual(['DEBUG', 'INFO', 'WARNING', 'ERROR']);
  expect(entries()[1]).toMatchObject({
    message: 'run_created',
    event: 'run_created',
    runId: 'run_x',
    text: 'two\nlines',
  });
});

test('lines below the minimum severity are not written', () => {
  const { log, lines } = captured('WARNING');
  log.debug('a');
  log.info('b');
  log.warn('c');
  expect(lines).toHaveLength(1);
});

test('an error is written with its stack', () => {
  const { log, entries } = captured();
  log.error('failed', { error: new Error('why') });
  expect(entries()[0]?.error).toMatch(/^Error: why\n\s+at /);
});

test('fields cannot hide the severity or the event', () => {
  const { log, entries } = captured();
  log.error('failed', { severity: 'DEBUG', message: 'nothing', event: 'other' });
  expect(entries()[0]).toEqual({ severity: 'ERROR', message: 'failed: nothing', event: 'failed' });
});

test('a field `message` is appended to the message, after the event', () => {
  const { log, entries } = captured();
  log.info('step_log', { message: 'imported 3 rows' });
  log.info('odd', { message: 7 });
  expect(entries().map(({ message }) => message)).toEqual(['step_log: imported 3 rows', 'odd']);
});

test('a value that JSON cannot represent does not lose the line', () => {
  const { log, entries } = captured();
  const ring: Record<string, unknown> = {};
  ring.self = ring;
  log.info('ring', { ring });
  log.info('big', { n: 10n });
  const refuses = () => {
    throw Object.create(null);
  };
  log.info('refusing', { value: { toJSON: refuses } });
  expect(entries()).toMatchObject([
    { event: 'ring', fieldsLost: expect.any(String) },
    { event: 'big', n: '10' },
    { event: 'refusing', fieldsLost: expect.any(String) },
  ]);
});

test.each([
  [undefined, ['INFO', 'WARNING']],
  ['debug', ['DEBUG', 'INFO', 'WARNING']],
  ['WARNING', ['WARNING']],
  ['nonsense', ['INFO', 'WARNING']],
])('LOG_LEVEL=%s writes lines of %j', (level, written) => {
  const script = `
    const { platformLog } = await import('./packages/cairn/src/platform/log.ts');
    for (const severity of ['debug', 'info', 'warn']) platformLog[severity]('x');`;
  const { LOG_LEVEL: _, ...env } = process.env;
  const stdout = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...env, ...(level === undefined ? {} : { LOG_LEVEL: level }) },
    encoding: 'utf8',
  });
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).severity)).toEqual(written);
});
