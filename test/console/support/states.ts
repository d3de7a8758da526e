/** States of the pages that no address leads to: dialogs, menus, refusals, failures, and lists of nothing. */
import type { Page } from 'playwright-core';
import { addAxe } from './axe.ts';
import { goTo } from './browser.ts';
import type { Showcase } from './showcase.ts';

export interface State {
  readonly name: string;
  path(show: Showcase): string;
  /** Brings the page from its address into the state. */
  reach(page: Page, show: Showcase): Promise<unknown>;
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

/** Lists of nothing, with what the page then says. */
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

/** Anew, as what an earlier state has read is shown until it is read again. */
async function load(page: Page, path: string): Promise<void> {
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

export const STATES: readonly State[] = [
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
    name: 'an action in doubt',
    path: ({ doubtful }) => `/runs/${doubtful}`,
    reach: opened(/^Resolve the action/, 'Result, as JSON'),
  },
  { name: 'a hold', path: ({ failed }) => `/runs/${failed}`, reach: opened('Hold', 'Reason') },
  { name: 'a rejection', path: () => '/inbox', reach: opened('Reject', 'Note') },
  { name: 'a workflow to pause', path: () => '/workflows/gift', reach: opened('Pause', 'Reason') },
  {
    name: 'everything to stop',
    path: () => '/workflows',
    reach: opened('Stop everything', 'stop everything'),
  },
  { name: 'a new schedule', path: () => '/schedules', reach: opened('New schedule', 'Cron line') },
  ...(
    [
      ['Pause', 'Reason'],
      ['Trigger', 'One run with the input'],
      ['Backfill', 'From'],
      ['Change', 'Cron line'],
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
      await page.getByText(/The API has not answered for/).waitFor();
    },
  },
];
