import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type CliCommand, optionsOf } from '../../../packages/cli/src/arguments/command.ts';
import { COMMANDS } from '../../../packages/cli/src/commands/all.ts';
import { wordsOf } from '../../cli/support/said-in-docs.ts';
import { requestOf } from '../commands.ts';
import { faultOf, KNOWN_COMMANDS, knownOf } from './google.ts';
import { type Place, ROWS } from './rows.ts';
import { filledIn, sceneOf } from './scenes.ts';
import { shownCommands } from './shown.ts';

const ROOT = join(import.meta.dirname, '../../..');

const shown = shownCommands();
const rowOf = (command: string) => ROWS.find(([pattern]) => pattern.test(command));
const placeOf = (command: string): Place | undefined => rowOf(command)?.[1];

test('every command in a document is run by a test, or listed with the reason why it cannot be', () => {
  expect(shown.filter(({ isInText }) => !isInText).length).toBeGreaterThan(150);
  expect(shown.filter(({ isInText }) => isInText).length).toBeGreaterThan(150);
  expect(shown.filter(({ command }) => !rowOf(command))).toEqual([]);
  const used = new Set(shown.map(({ command }) => rowOf(command)));
  expect(ROWS.filter((row) => !used.has(row)).map(([pattern]) => String(pattern))).toEqual([]);
});

test('the table of commands and package.json have the same commands', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const rows = readFileSync(join(ROOT, 'docs/commands.md'), 'utf8').matchAll(/^\| `npm (?:run )?([\w:-]+)/gm);
  const hidden = ['dev', 'build', 'lint'];
  expect([...rows].map(([, name]) => name).toSorted()).toEqual(
    Object.keys(scripts)
      .filter((name) => !hidden.includes(name))
      .toSorted(),
  );
});

test('each named file runs the command', () => {
  const wrong = shown.flatMap(({ command }) => {
    const place = placeOf(command);
    if (place === undefined || typeof place === 'string' || 'cannot' in place) return [];
    const path = place.by;
    return textBelow(path).includes(place.as || command) ? [] : [{ command, path }];
  });
  expect(wrong).toEqual([]);
});

/** The text of a file, or of all files below a folder. */
function textBelow(path: string): string {
  const at = join(ROOT, path);
  if (!existsSync(at)) return '';
  if (!statSync(at).isDirectory()) return readFileSync(at, 'utf8');
  return readdirSync(at)
    .map((name) => textBelow(`${path}/${name}`))
    .join('\n');
}

test('commands that change a Google project are valid commands of their tool, and name no project', () => {
  const google = shown.filter(({ command }) => placeOf(command) === 'google');
  expect(google.length).toBeGreaterThan(20);
  const faults = google.flatMap(({ document, command }) => {
    const fault = faultOf(command);
    return fault === undefined ? [] : [{ document, command, fault }];
  });
  expect(faults).toEqual([]);
  const used = new Set(google.map(({ command }) => knownOf(command)));
  expect(KNOWN_COMMANDS.filter((known) => !used.has(known))).toEqual([]);
});

const here = shown.filter(({ command }) => placeOf(command) === 'here');
const distinct = [...new Map(here.map((one) => [`${one.command}${one.isInText}`, one])).values()];

/** Words after `cairn`. */
function saidTo(command: string): string[] {
  const [, said = ''] =
    /^(?:npm run (?:--silent )?cairn --|npx cairn|cairn)(?: ([\s\S]*))?$/.exec(command) ?? [];
  return wordsOf(said);
}

function commandOf(words: readonly string[]): CliCommand | undefined {
  const named = COMMANDS.filter(({ name }) => `${words.join(' ')} `.startsWith(`${name} `));
  return named.toSorted((a, b) => b.name.length - a.name.length)[0];
}

/** True if a sentence names a command or its option without the required arguments. */
function isNamedOnly(words: readonly string[]): boolean {
  const spec = commandOf(words);
  if (!spec) return COMMANDS.some(({ name }) => name.startsWith(`${words.join(' ')} `));
  const option = /^--(.+)/.exec(words.at(-1) ?? '')?.[1] ?? '';
  if (words.length > 1 && optionsOf(spec)[option] && optionsOf(spec)[option]?.type !== 'flag') return true;
  const args = Object.values(spec.args);
  return words.join(' ') === spec.name && args.some(({ optional }) => !optional || spec.mutates);
}

describe('with an installation in memory', () => {
  const lines = distinct.filter(({ command }) => !command.startsWith('curl'));

  test.each(lines)('$document: $command', async ({ command, isInText }) => {
    const shownWords = saidTo(command);
    if (isInText && isNamedOnly(shownWords)) return expectNamed(shownWords);
    const scene = await sceneOf(command);
    const words = saidTo(filledIn(command, scene));
    // The address and key are those of the installation in memory.
    const elsewhere = ['--url', 'https://staging.example.com', '--key-file', '~/.config/cairn/staging'];
    const files = new Proxy({}, { get: () => '{}' }) as Record<string, string>;
    const { code, err } = await scene.stage.cairn(
      words.filter((word) => !elsewhere.includes(word)),
      {
        files,
        answer: 'yes',
        fetch: async (target: string, init: RequestInit) => {
          const answer = await scene.stage.fetch(target, init);
          if (init.method === 'POST') await scene.stage.drive();
          return answer;
        },
      },
    );
    expect([code, err]).toEqual([0, expect.not.stringMatching(/INVALID_INPUT|INTERNAL/)]);
  });

  /** Expects an existing command or group, whose help has the named option, if any. */
  async function expectNamed(words: readonly string[]): Promise<void> {
    const name = commandOf(words)?.name.split(' ') ?? words;
    const { stage } = await sceneOf('');
    const { code, out } = await stage.cairn([...name, '--help']);
    expect([code, out]).toEqual([0, expect.stringContaining(name.join(' '))]);
    expect(out).toContain(words.slice(name.length).join(' '));
  }

  const requests = distinct.filter(({ command }) => command.startsWith('curl'));

  test.each(requests)('$document: $command', async ({ command }) => {
    const scene = await sceneOf(command);
    const { installation } = scene.stage;
    const key = await installation.key('docs', { tenantId: 't1', roles: ['installation'] });
    const text = filledIn(command, scene)
      .replaceAll('$CAIRN_URL', '$URL')
      .replaceAll('$CAIRN_API_KEY', '$KEY')
      .replaceAll(/-H '([^']*)'/g, '-H "$1"');
    const answer = await installation.api.request(requestOf(text, key));
    const isStream = answer.headers.get('content-type')?.includes('event-stream');
    const body = isStream ? '' : await answer.text();
    await answer.body?.cancel().catch(() => {});
    expect([answer.ok, body]).toEqual([true, body]);
  });
});
