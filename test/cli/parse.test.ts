import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  command,
  GLOBAL_OPTIONS,
  KEY_OPTION,
  optionHelp,
  optionsOf,
} from '../../packages/cli/src/arguments/command.ts';
import { parse } from '../../packages/cli/src/arguments/parse.ts';
import { COMMANDS } from '../../packages/cli/src/commands/all.ts';
import { UsageError } from '../../packages/cli/src/exit.ts';
import { wordsOf } from './support/said-in-docs.ts';

const show = command({
  name: 'things show',
  summary: 'Show a thing',
  args: { thing: { help: 'which' }, part: { help: 'of it', optional: true } },
  options: {
    size: { type: 'number', range: [1, 10], help: 'how large' },
    colour: { type: 'text', choices: ['red', 'blue'], help: 'which' },
    with: { type: 'list', help: 'what else' },
    deep: { type: 'flag', help: 'all of it' },
  },
  mutates: true,
  examples: [['things show x', 'it']],
  run: async () => undefined,
});
const list = command({
  name: 'things',
  summary: 'List',
  args: {},
  options: {},
  examples: [['things', 'all']],
  run: async () => undefined,
});
const commands = [show, list];

function given(line: string) {
  const parsed = parse(line.split(' ').filter(Boolean), commands);
  if (parsed.kind === 'help') throw new Error('help');
  return { name: parsed.command.name, ...parsed.given, json: parsed.global.json };
}

describe('words', () => {
  test.each([
    ['things', { name: 'things', args: {}, json: false }],
    ['things show x', { name: 'things show', args: { thing: 'x', part: undefined } }],
    ['--json things show x y', { args: { thing: 'x', part: 'y' }, json: true }],
    ['things show x --size 3 --deep', { options: { size: 3, deep: true, colour: undefined, with: [] } }],
    [
      'things show x --with a --with=b',
      { options: { size: undefined, deep: false, colour: undefined, with: ['a', 'b'] } },
    ],
    ['things --colour red show x', { options: { size: undefined, deep: false, colour: 'red', with: [] } }],
    ['things show x --key k1', { key: 'k1' }],
    ['things show -- --x', { args: { thing: '--x', part: undefined } }],
  ])('%s', (line, expected) => {
    expect(given(line)).toMatchObject(expected);
  });

  test.each([
    ['things show', 'THING is missing'],
    ['things show x y z', "unexpected argument 'z'"],
    ['things shwo x', "unexpected argument 'shwo'"],
    ['thins', "Did you mean 'things'"],
    ['things show x --size 11', '--size must be a whole number from 1 to 10'],
    ['things show x --size 1.5', '--size must be a whole number'],
    ['things show x --size -1', "--size must be a whole number from 1 to 10, not '-1'"],
    ['things show x --size --deep', "--size needs a value, and '--deep' is read as an option"],
    [
      'things show x --with a --with -b',
      "and '-b' is read as an option If it is the value, write --with=-b.",
    ],
    ['things show x --colour green', '--colour must be one of red, blue'],
    ['things show x --colour=', '--colour needs a value'],
    ['things show x --colour', '--colour needs a value See cairn things show --help.'],
    ['things show x --colur red', 'Did you mean --colour'],
    ['things show x --deap', 'Did you mean --deep'],
    ['things show x --wipe', 'has no option --wipe See'],
    ['things show x --part y', "PART is an argument of 'things show', not an option Give it without --part"],
    ['things show x --part y', 'cairn things show THING [PART]'],
    ['things --key k', 'has no option --key'],
    ['things show x --deep=1', '--deep takes no value'],
    ['show x', "there is no command 'show x' Did you mean 'things show'?"],
    ['completely different', "there is no command 'completely different'"],
  ])('refused: %s', (line, message) => {
    const refusal = caught(() => given(line));
    expect(`${refusal.message} ${refusal.help}`).toContain(message);
  });

  test.each([
    ['--help', []],
    ['', []],
    ['things show --help', 'things show'],
    ['things show x y z --help --size 99', 'things show'],
    ['help', []],
    ['help things show', 'things show'],
    ['things help', 'things'],
  ])('help: %s', (line, about) => {
    const parsed = parse(line.split(' ').filter(Boolean), commands);
    expect(parsed.kind === 'help' && ('run' in parsed.about ? parsed.about.name : parsed.about)).toEqual(
      about,
    );
  });
});

test('any command line is parsed, or refused with a message', () => {
  const known = COMMANDS.flatMap((one) => [
    ...one.name.split(' '),
    ...Object.keys(optionsOf(one)).map((name) => `--${name}`),
  ]);
  const word = fc.oneof(
    fc.constantFrom(...known),
    fc.string(),
    fc.string().map((text) => `--${text}`),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      try {
        expect(['run', 'help']).toContain(parse(words, COMMANDS).kind);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
        // Messages of Node, without a command of Cairn.
        expect((error as UsageError).message).not.toMatch(/^Option '/);
      }
    }),
    { numRuns: 500 },
  );
});

describe('the table of commands', () => {
  test('has each name once', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('has no command option with the name of a global one', () => {
    const common = [...Object.keys(GLOBAL_OPTIONS), ...Object.keys(KEY_OPTION)];
    for (const { name, options } of COMMANDS) {
      expect([name, Object.keys(options).filter((option) => common.includes(option))]).toEqual([name, []]);
    }
  });

  test('uses one type per option name, so that values can be distinguished from words before the command is known', () => {
    const types = new Map<string, string>();
    for (const one of COMMANDS) {
      for (const [name, { type }] of Object.entries(optionsOf(one))) {
        expect([one.name, name, types.get(name) ?? type]).toEqual([one.name, name, type]);
        types.set(name, type);
      }
    }
  });

  test.each(COMMANDS.map((one) => [one.name, one] as const))(
    'has valid examples for %s',
    (name, { examples, summary }) => {
      expect(summary).toMatch(/^[A-Z].*[^.]$/);
      expect(examples.length).toBeGreaterThan(0);
      for (const [line] of examples) {
        const parsed = parse(wordsOf(line), COMMANDS);
        expect(parsed.kind === 'run' && parsed.command.name).toBe(name);
      }
    },
  );
});

test('a missing required option is reported with the reason', () => {
  const needing = COMMANDS.flatMap((one) =>
    Object.entries(one.options).flatMap(([name, spec]) =>
      spec.required === undefined ? [] : [{ one, name, required: spec.required, spec }],
    ),
  );
  expect(needing.map(({ one }) => one.name)).toEqual(
    expect.arrayContaining(['runs hold', 'runs waive', 'runs send-back', 'schedules backfill']),
  );
  for (const { one, name, required, spec } of needing) {
    const words = [...one.name.split(' '), ...Object.keys(one.args).map(() => 'x')];
    const refusal = caught(() => parse(words, COMMANDS));
    expect([refusal.message, refusal.help]).toEqual([
      `--${name} is missing: ${required}`,
      `See cairn ${one.name} --help.`,
    ]);
    expect(parse([...words, `--${name}`, 'y'], COMMANDS)).toMatchObject({
      given: { options: { [name]: 'y' } },
    });
    expect(spec.help).not.toMatch(/required/);
    expect(optionHelp(spec)).toBe(`${spec.help}; required`);
  }
});

test('if an argument and an option are missing, the argument is reported first', () => {
  const refusal = caught(() => parse(['runs', 'hold'], COMMANDS));
  expect([refusal.message, refusal.help]).toEqual([
    expect.stringContaining('RUN is missing: '),
    'See cairn runs hold --help.',
  ]);
});

function caught(act: () => unknown): UsageError {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

test('JSON or a JSON file as an unexpected argument gets the option for it as a suggestion', () => {
  const taking = COMMANDS.filter(({ options }) =>
    Object.values(options).some(({ value }) => value === 'JSON'),
  );
  expect(taking.map(({ name }) => name)).toContain('runs start');
  const json = fc.oneof(fc.object(), fc.array(fc.integer())).map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(fc.constantFrom(...taking), fc.oneof(json, fc.constant('@order.json')), (one, word) => {
      const words = [
        ...one.name.split(' '),
        ...Object.values(one.args).map(({ choices }) => choices?.[0] ?? 'x'),
        ...Object.entries(one.options).flatMap(([name, { required }]) =>
          required === undefined ? [] : [`--${name}`, 'y'],
        ),
      ];
      expect(parse(words, COMMANDS).kind).toBe('run');
      const [option = ''] = Object.entries(one.options).find(([, { value }]) => value === 'JSON') ?? [];
      let help: string | undefined;
      try {
        parse([...words, word], COMMANDS);
      } catch (error) {
        help = (error as UsageError).help;
      }
      expect(help).toBe(`Give it with --${option}: see cairn ${one.name} --help.`);
    }),
  );
});
