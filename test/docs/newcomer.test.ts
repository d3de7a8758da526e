import { expect, test } from '@jest/globals';
import {
  COMMANDS,
  filesIn,
  LIMIT_MS,
  MAIL_URL,
  PAGE_WITH_CODE,
  READ,
  readPart,
  WORDS_A_MINUTE,
  wordsIn,
} from '../../scripts/newcomer/way.ts';
import { shownCommands, withoutVariable } from './commands/shown.ts';
import { readDocument } from './snippets.ts';

test('each command of the newcomer is on the pages', () => {
  const pages: ReadonlySet<string> = new Set(READ.map(({ page }) => page));
  const shown = shownCommands().flatMap(({ document, command }) => (pages.has(document) ? [command] : []));
  expect(Object.values(COMMANDS).filter((command) => !shown.includes(withoutVariable(command)))).toEqual([]);
});

test('the page has the files that the commands name, and the mail server that is replaced', () => {
  const files = filesIn(
    readPart(readDocument(PAGE_WITH_CODE), { page: PAGE_WITH_CODE, until: '## Deploy it' }),
  );
  expect([...files.keys()]).toEqual([
    'functions/src/workflows/invite-team.ts',
    'test/workflows/invite-team.test.ts',
    'functions/src/my-functions.ts',
  ]);
  expect([...files.values()].filter((code) => code.includes(MAIL_URL))).toHaveLength(1);
});

test('reading the pages leaves three of the ten minutes for the machine', () => {
  const words = READ.reduce((sum, part) => sum + wordsIn(readPart(readDocument(part.page), part)), 0);
  expect(words).toBeGreaterThan(500);
  expect((words / WORDS_A_MINUTE) * 60_000).toBeLessThanOrEqual(LIMIT_MS - 3 * 60_000);
});

test('a page without the heading that ends the reading is refused', () => {
  expect(() => readPart('# A page\n', { page: 'x.md', until: '## Gone' })).toThrow(
    "x.md has no heading '## Gone'",
  );
});
