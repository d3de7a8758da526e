/** States of pages without an address: dialogs, menus, refusals, failures, and empty lists. */
import type { Page } from 'playwright-core';
import { addAxe } from './axe.ts';
import { goTo } from './browser.ts';
import type { Showcase } from './showcase.ts';

export interface State {
  readonly name: string;
  path(show: Showcase): string;
  /** Brings the page from its address into the state. */
  reach(page: Page, show: Showcase): Promise<unknown>;
  /** The report of the rule for all pages that the state must break. */
  readonly breaks?: RegExp;
  /** The page is unusable afterwards: signed out, or with a cached answer that no page can show. */
  readonly needsReload?: true;
}

const dialog = (page: Page) => page.getByRole('dialog');
const press = (page: Page, name: string | RegExp) =>
  page
    .getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
    .first()
    .click();

/** Opens a dialog by a button. */
function opened(button: string | RegExp, shows: string) {
  return async (page: Page) => {
    await press(page, button);
    await dialog(page).getByText(shows).first().waitFor();
  };
}

/** Empty lists, with the heading that the page shows. */
function empty(path: string, api: string, shows: string): State {
  return {
    name: `nothing at ${path}`,
    path: () => '/nothing',
    async reach(page) {
      await page.route(`**${api}?*`, (route) => route.fulfill({ json: { items: [] } }));
      await page.route('**/v1/runs/stream?*', (route) => route.abort());
      await load(page, path);
      await page.getByRole('heading', { name: shows }).waitFor();
    },
  };
}

/** Reloads the page, because it would first show the answers that an earlier state has read. */
export async function load(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await addAxe(page);
}

const FAILED = {
  title: 'Refused',
  status: 400,
  code: 'INVALID_INPUT',
  detail: 'It is not one.',
  help: 'Look again.',
};

/** Problems that no test run has: one that the engine repairs, one for a person. */
const PROBLEM = {
  code: 'STEP_DIFFERENT',
  severity: 'error',
  healable: true,
  subject: 'steps/book',
  title: 'A step says something else than the journal.',
  help: 'Repair the run.',
  evidence: { member: 'attempt' },
};
const FOR_A_PERSON = {
  ...PROBLEM,
  code: 'ORIGIN_LOST',
  severity: 'warning',
  healable: false,
  subject: 'idempotency record',
  help: 'Find out who wrote it.',
};
const CONSISTENCY = {
  checkedAt: '2026-01-02T03:04:05.000Z',
  verdict: 'needs_person',
  head: 9,
  problems: [PROBLEM, FOR_A_PERSON],
  more: 3,
  unread: ['4'],
};
const REPAIR = {
  outcome: 'planned',
  changes: [
    {
      subject: 'steps/book',
      action: 'replace',
      fixes: ['STEP_DIFFERENT'],
      differences: [{ member: 'attempt', before: '2', after: '1' }],
    },
  ],
  refused: [FOR_A_PERSON],
  events: [],
};

/** Serves the console like Hosting in a project with users, to a person who is not signed in. */
async function openSignedOut(page: Page): Promise<void> {
  await page.route('**/console.json', (route) => route.fulfill({ json: { local: false } }));
  await page.route('**/__/firebase/init.json', (route) =>
    route.fulfill({ json: { apiKey: 'public', projectId: 'demo-cairn' } }),
  );
  await load(page, '/runs');
  await page.getByRole('button', { name: 'Sign in with e-mail' }).waitFor();
}

export const STATES: readonly State[] = [
  {
    name: 'the sign-in',
    path: () => '/nothing',
    reach: openSignedOut,
    needsReload: true,
  },
  {
    name: 'a refused sign-in',
    path: () => '/nothing',
    async reach(page) {
      await openSignedOut(page);
      await page.getByLabel('API key').fill('cairn_nobody_0123456789abcdef');
      await press(page, 'Sign in');
      await page.getByRole('alert').getByText('UNAUTHENTICATED').waitFor();
    },
    needsReload: true,
  },
  {
    name: 'a page that threw',
    path: () => '/nothing',
    async reach(page) {
      await load(page, '/inbox');
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      await page.route('**/v1/workflows*', (route) => route.fulfill({ json: {} }));
      await goTo(page, '/workflows');
      await page.getByRole('alert').getByText('This page cannot be shown').waitFor();
    },
    needsReload: true,
    breaks: /console: TypeError.*reading 'find'/,
  },
  {
    name: 'a restored database to release',
    path: () => '/nothing',
    async reach(page) {
      const restore = {
        home: 'demo-cairn',
        held: true,
        restoredAt: '2026-01-02T03:04:05.000Z',
        by: 'system',
      };
      await page.route('**/v1/restore', (route) => route.fulfill({ json: restore }));
      await load(page, '/health');
      await page.getByText('Paused: no run of any tenant moves').waitFor();
      await opened('Release', 'Runs of every tenant continue')(page);
    },
  },
  {
    name: 'a run to repair',
    path: ({ failed }) => `/runs/${failed}?tab=journal`,
    async reach(page, { failed: runId }) {
      await page.route('**/consistency', (route) => route.fulfill({ json: { runId, ...CONSISTENCY } }));
      await page.route('**/repair?*', (route) => route.fulfill({ json: { runId, ...REPAIR } }));
      await press(page, 'Check the chain');
      await page.getByText('5 problems. Some of it needs a person.').waitFor();
      await opened('Repair', 'These changes would be made')(page);
    },
  },
  { name: 'the keys', path: () => '/health', reach: opened('Keys of the pages', 'go to Schedules') },
  {
    name: 'the menu View',
    path: () => '/runs',
    async reach(page) {
      await page.getByText('View', { exact: true }).click();
      await page.getByLabel('Name of this view').fill('all');
      await press(page, 'Save');
      await page.getByRole('button', { name: 'Delete the view all' }).waitFor();
    },
  },
  {
    name: 'selected runs',
    path: () => '/runs',
    async reach(page, { failed }) {
      for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
      await page.locator(`#row-${failed}`).getByRole('checkbox').check();
      await page.getByText('3 selected').waitFor();
    },
  },
  { name: 'a bulk change', path: () => '/runs', reach: opened('Cancel all…', 'will be cancelled') },
  {
    name: 'failures by cause, open',
    path: () => '/runs?status=failed',
    async reach(page) {
      await page.getByText('Failures by cause').click();
      await page.getByText(/^\d+ of \d+ runs failed/).waitFor();
    },
  },
  {
    name: 'a run to start, with what is missing',
    path: () => '/runs',
    async reach(page) {
      await press(page, 'Start a run');
      await dialog(page).getByRole('combobox').first().selectOption('pay-invoice');
      await dialog(page).getByText('invoice is required').waitFor();
    },
  },
  {
    name: 'a refused input',
    path: () => '/workflows/gift',
    async reach(page) {
      await press(page, 'Start a run');
      await dialog(page).getByRole('textbox', { name: 'cents' }).fill('-3');
      await dialog(page).getByRole('textbox', { name: 'to' }).fill('nobody');
      await dialog(page).getByRole('button', { name: 'Start', exact: true }).click();
      await dialog(page).getByRole('alert').waitFor();
    },
  },
  {
    name: 'an answer',
    path: ({ asking }) => `/runs/${asking}`,
    reach: opened('Answer approve', 'Pay A-1?'),
  },
  {
    name: 'a side effect in doubt',
    path: ({ doubtful }) => `/runs/${doubtful}`,
    reach: opened(/^Resolve the action/, 'Result, as JSON'),
  },
  { name: 'a hold', path: ({ failed }) => `/runs/${failed}`, reach: opened('Legal hold', 'Reason') },
  { name: 'a rejection', path: () => '/inbox', reach: opened('Reject', 'Note') },
  { name: 'a workflow to pause', path: () => '/workflows/gift', reach: opened('Pause', 'Reason') },
  {
    name: 'the kill switch',
    path: () => '/workflows',
    reach: opened('Turn the kill switch on', 'until the kill switch is off'),
  },
  { name: 'a new schedule', path: () => '/schedules', reach: opened('New schedule', 'Cron expression') },
  ...(
    [
      ['Pause', 'Reason'],
      ['Trigger', 'One run with the input'],
      ['Backfill', 'From'],
      ['Change', 'Cron expression'],
      ['Delete', 'Its runs stay'],
    ] as const
  ).map(([name, shows]) => ({
    name: `a schedule: ${name}`,
    path: ({ schedule }: Showcase) => `/schedules/${schedule}`,
    reach: opened(name, shows),
  })),
  empty('/runs', '/v1/runs', 'No runs yet'),
  empty('/inbox', '/v1/inbox', 'No open questions'),
  empty('/schedules', '/v1/schedules', 'No schedules yet'),
  {
    name: 'a page that failed',
    path: () => '/nothing',
    async reach(page) {
      await page.route('**/v1/workflows*', (route) => route.fulfill({ status: 400, json: FAILED }));
      await load(page, '/workflows/echo');
      await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    },
  },
  {
    name: 'an API that does not answer',
    path: () => '/workflows',
    async reach(page) {
      await page.route('**/v1/**', (route) => route.abort());
      await goTo(page, '/inbox');
      await page.getByText(/The API has not responded for/).waitFor();
    },
  },
];
