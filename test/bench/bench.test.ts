import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readArguments, UsageError, WORKLOADS } from '../../bench/arguments.ts';
import { durabilitiesOf, table } from '../../bench/comparison.ts';
import { FIGURE_NAMES, figuresOf, ownFigures, speedRatios } from '../../bench/peers.ts';
import { median, percentile } from '../../bench/statistics.ts';

const MAIN = join(import.meta.dirname, '../../bench/main.ts');

test('a measurement ends with one line of JSON that has the requested figures and no others', async () => {
  const words = ['--json', '--only', 'W1', '--runs', '2', '--data', 'memory'];
  const bench = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...words]);
  let output = '';
  let complaints = '';
  bench.stdout.on('data', (chunk) => {
    output += chunk;
  });
  bench.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const [code] = await once(bench, 'close');
  expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
  expect(output.trim().split('\n')).toHaveLength(1);
  const number = expect.any(Number);
  expect(JSON.parse(output)).toEqual({
    data: 'memory',
    workers: 1,
    load: [number, number],
    W1: {
      n: 2,
      warmUp: 5,
      medianMs: number,
      p95Ms: number,
      minMs: number,
      cpuMs: { cloud: process.platform === 'linux' ? number : null, workers: expect.anything() },
    },
    residentAfterMb: process.platform === 'linux' ? number : null,
  });
});

test('a comparison says which other engine is missing before anything is measured', async () => {
  const bench = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, '--peers'], {
    env: { ...process.env, PEERS: import.meta.dirname },
  });
  let complaints = '';
  bench.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  const [code] = await once(bench, 'close');
  expect(complaints).toMatch(/^bench: Restate is not installed: .*run\.sh does not exist\n$/);
  expect(code).toBe(2);
});

describe('the flags', () => {
  test('mean everything, on SQLite, when there are none', () => {
    expect(readArguments([])).toMatchObject({ data: 'sqlite', workers: 1, runs: 60, peers: false });
    expect([...readArguments([]).only]).toEqual(WORKLOADS.filter((name) => name !== 'install'));
  });

  test.each([
    ['--only', 'W7'],
    ['--only', ''],
    ['--data', 'tape'],
    ['--runs', '0'],
    ['--workers', '1.5'],
    ['--nonsense'],
  ])('are refused when they are invalid: %s %s', (...words) => {
    expect(() => readArguments(words)).toThrow(UsageError);
  });
});

describe('the statistics', () => {
  test.each([
    [[5], 5, 5],
    [[2, 1], 1.5, 2],
    [[3, 1, 2], 2, 3],
    [Array.from({ length: 100 }, (_, i) => 100 - i), 50.5, 95],
  ])('of %j are median %d and 95th percentile %d', (values, middle, p95) => {
    expect(median(values)).toBe(middle);
    expect(percentile(values, 0.95)).toBe(p95);
  });

  test('of an empty list are an error', () => {
    expect(() => median([])).toThrow();
    expect(() => percentile([], 0.5)).toThrow();
  });
});

describe('the comparison', () => {
  test('reads what the benchmarks of other engines write, and skips unknown figures', () => {
    const lines = [
      { w: 'cold', coldMs: 900 },
      { w: 'W1', n: 60, med: 24.5 },
      { w: 'W2', runsPerS: 113 },
      { w: 'W3', n: 100, perStep: 2.4 },
      { w: 'W3', n: 700, perStep: 9 },
      { w: 'W3', n: 5_000, err: 'refused' },
      { w: 'W4', med: 51 },
    ];
    expect(figuresOf(lines)).toEqual({ 'W1 ms': 24.5, 'W2 runs/s': 113, 'W3 100 ms/step': 2.4, 'W4 ms': 51 });
  });

  test('reports the ratio: less time is faster, and more runs a second are', () => {
    const own = { 'W1 ms': 20, 'W2 runs/s': 100, 'W4 ms': 10 };
    const other = { 'W1 ms': 40, 'W2 runs/s': 50, 'W5 ms': 1 };
    expect(speedRatios(own, other)).toEqual({ 'W1 ms': 2, 'W2 runs/s': 2 });
  });

  test('reads our own figures by the same names', () => {
    const W3 = [{ steps: 1_000, n: 1, ms: 2_000, msPerStep: 2, cpuMs: { cloud: null, workers: null } }];
    expect(ownFigures({ load: [0, 0], W3 })).toEqual({ 'W3 1000 ms/step': 2 });
  });

  test('compares warm processes with the only figure that other engines have', () => {
    const ratios = speedRatios({ 'W1 ms': 20, 'W1 warm ms': 10 }, { 'W1 ms': 30 });
    expect(ratios).toEqual({ 'W1 ms': 1.5, 'W1 warm ms': 3 });
  });

  test('measures the default storage at both durabilities, and a requested one alone', () => {
    const storages = (['sqlite', 'sync', 'memory'] as const).map((data) =>
      durabilitiesOf(data).map((own) => own.data),
    );
    expect(storages).toEqual([['sqlite', 'sync'], ['sync'], ['memory']]);
  });

  test('prints a line for each figure, with a dash for what was not measured', () => {
    const figures = { cairn: { 'W1 ms': 20 }, 'cairn sync': {}, Restate: { 'W1 ms': 30 } };
    const ratios = { cairn: { Restate: { 'W1 ms': 1.5 } }, 'cairn sync': { Restate: {} } };
    const [head = '', w1 = '', ...rest] = table({ figures, ratios }).map((line) =>
      line.trim().split(/ {2,}/).join('|'),
    );
    expect(head).toBe('cairn|cairn sync|Restate|cairn : Restate|cairn sync : Restate');
    expect(w1).toBe('W1 ms|20|–|30|1.5|–');
    expect(rest).toHaveLength(FIGURE_NAMES.length);
  });
});
