import { describe, expect, test } from '@jest/globals';
import {
  type DeployOptions,
  invocationOf,
  parseArguments,
  UsageError,
} from '../../../scripts/deploy/arguments.ts';

const given = (...argv: string[]): DeployOptions => {
  const options = parseArguments(argv);
  if (!options) throw new Error('no options');
  return options;
};

describe('the arguments of npm run deploy', () => {
  test('must name the project', () => {
    expect(() => parseArguments([])).toThrow('--project PROJECT');
    expect(given('--project', 'a-b').project).toBe('a-b');
    expect(given('-P', 'a-b').project).toBe('a-b');
    expect(given('--project=a-b').project).toBe('a-b');
  });

  test.each([
    [['--project', 'x', '--froce'], '--froce'],
    [['--project', 'x', '--force'], '--force'],
    [['--project'], '--project needs a value'],
    [['--project', '--set-up'], '--project needs a value'],
    [['--project', 'x', '--only', ''], '--only needs a value'],
    [['--project', 'x', '--set-up=yes'], '--set-up=yes'],
    [['--project', 'a b'], "'a b' is not a project id"],
    [['x'], "'x'"],
  ])('%j are refused by name', (argv, expected) => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
    expect(() => parseArguments(argv)).toThrow(expected);
  });

  test('--help takes precedence over missing arguments', () => {
    expect(parseArguments(['--help'])).toBeUndefined();
  });
});

describe('firebase-tools is run', () => {
  test('interactively on a terminal, and otherwise without questions', () => {
    const options = given('--project', 'x');
    expect(invocationOf(options, 'x', true).argv).toEqual([
      'deploy',
      '--project',
      'x',
      '--only',
      'firestore,functions,hosting',
    ]);
    expect(invocationOf(options, 'x', false).argv.slice(-2)).toEqual(['--non-interactive', '--force']);
  });

  test('without deleting functions or inventing secrets, unless an option allows it', () => {
    expect(invocationOf(given('--project', 'x'), 'x', false).env).toEqual({});
    expect(invocationOf(given('--project', 'x', '--delete-functions'), 'x', false).env).toEqual({
      CAIRN_DEPLOY_DELETES: '1',
    });
    expect(invocationOf(given('--project', 'x', '--set-up'), 'x', true).env).toEqual({
      CAIRN_DEPLOY_SET_UP: '1',
    });
  });
});
