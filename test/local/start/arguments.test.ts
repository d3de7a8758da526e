import { expect, test } from '@jest/globals';
import { ArgumentsError, readArguments, USAGE } from '../../../packages/local/src/arguments.ts';

test('without flags there are defaults', () => {
  expect(readArguments([])).toEqual({
    json: false,
    help: false,
    verbose: false,
    data: '.cairn',
    port: undefined,
    workers: 1,
    keepsSpare: true,
    watchdogSeconds: undefined,
    acceptDamage: false,
    sync: false,
    tickSeconds: 5,
    projectId: undefined,
    functionsModule: undefined,
    emulators: false,
    official: false,
  });
});

test('every flag is read', () => {
  const words =
    '--json --data d --sync --port 0 --workers 3 --no-spare --watchdog 30 --accept-damage --tick 0.5 --project demo-x1 --functions f.ts --verbose';
  expect(readArguments(words.split(' '))).toEqual({
    watchdogSeconds: 30,
    acceptDamage: true,
    sync: true,
    json: true,
    help: false,
    verbose: true,
    data: 'd',
    port: 0,
    workers: 3,
    keepsSpare: false,
    tickSeconds: 0.5,
    projectId: 'demo-x1',
    functionsModule: 'f.ts',
    emulators: false,
    official: false,
  });
});

test('the help fits 80 columns', () => {
  expect(USAGE.split('\n').filter(({ length }) => length > 80)).toEqual([]);
});

test('firebase-tools runs the functions if requested, with either Firestore', () => {
  expect(readArguments(['--emulators'])).toMatchObject({ emulators: true, official: false, workers: 1 });
  expect(readArguments(['--emulators', '--official'])).toMatchObject({ emulators: true, official: true });
});

test.each([
  [['--jsn'], /Unknown option '--jsn'/],
  [['stray'], /Unexpected argument 'stray'/],
  [['--port'], /--port/],
  [['--port', '70000'], /--port must be a whole number from 0 to 65535/],
  [['--port', '80x'], /--port must be a whole number/],
  [['--workers', '0'], /--workers must be a whole number from 1/],
  [['--tick', '0'], /--tick must be more than 0/],
  [['--tick', 'soon'], /--tick must be/],
  [['--project', 'No'], /--project must have 6 to 30/],
  [['--data', ''], /--data needs a value/],
  [
    ['--emulators', '--workers', '2'],
    /--workers, --no-spare, --watchdog and --functions cannot be combined with --emulators/,
  ],
  [['--emulators', '--no-spare'], /--no-spare, .* cannot be combined with --emulators/],
  [
    ['--emulators', '--functions', 'f.ts'],
    /--workers, --no-spare, --watchdog and --functions cannot be combined with --emulators/,
  ],
  [['--sync', '--data', 'memory'], /--sync requires a folder/],
  [['--official'], /--official requires --emulators/],
])('%j is refused with the flag at fault', (words, message) => {
  expect(() => readArguments(words)).toThrow(ArgumentsError);
  expect(() => readArguments(words)).toThrow(message);
});
