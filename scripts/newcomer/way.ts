/**
 * The pages that a new user reads, and the commands from a clone to a first workflow that has recovered from a crash. Pure, so
 * that a test can compare it with the pages.
 */

/** The part of a page that must be read, including code. */
export interface Reading {
  readonly page: string;
  /** Heading at which the part ends; absent: the whole page. */
  readonly until?: string;
}

export const READ: readonly Reading[] = [
  { page: 'README.md', until: '## Write a workflow' },
  { page: 'docs/first-workflow.md', until: '## Deploy it' },
];
export const PAGE_WITH_CODE = 'docs/first-workflow.md';

/** Reading speed for prose and code; for prose alone it is 200 to 300. */
export const WORDS_A_MINUTE = 200;
export const LIMIT_MS = 10 * 60_000;
/** For the first `npm start` of a clone, which installs and builds what it serves. */
export const FIRST_START_LIMIT_MS = 60_000;

/** Commands in the order of the pages. */
export const COMMANDS = {
  firstStart: 'npm start',
  test: 'npm test -- test/workflows/invite-team',
  start: 'npm start -- --functions functions/src/my-functions.ts',
  run: `RUN=$(npm run --silent cairn -- runs start invite-team --input '{"team":"blue","members":["ann@example.com"]}')`,
  inbox: 'npm run cairn -- inbox',
  approve: 'npm run cairn -- runs approve $RUN',
  pay: 'npm run cairn -- events send team.paid blue',
  show: 'npm run cairn -- runs show $RUN',
  clock: `curl -s -X POST "$CONTROL/clock/advance" -H "Content-Type: application/json" -d '{"ms":3600000}'`,
} as const;

/** URL of the mail server of the page, which does not exist. */
export const MAIL_URL = 'https://mail.example.com/send';

/** @throws Error if the page has no such heading */
export function readPart(text: string, { page, until }: Reading): string {
  if (until === undefined) return text;
  const end = text.indexOf(`\n${until}\n`);
  if (end < 0) throw new Error(`${page} has no heading '${until}'`);
  return text.slice(0, end);
}

export function wordsIn(text: string): number {
  return text.replaceAll(/<!--.*?-->/gs, '').match(/\S+/g)?.length ?? 0;
}

/** Files that a page shows, by their paths. */
export function filesIn(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/<!-- file: (\S+) -->\n```ts\n([\s\S]*?)```/g)].map(([, path = '', code = '']) => [
      path,
      code,
    ]),
  );
}
