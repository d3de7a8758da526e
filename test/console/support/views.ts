/** Every page of the console, with a text that shows that the page is complete. */
import type { Showcase } from './showcase.ts';

export interface View {
  readonly name: string;
  path(show: Showcase): string;
  /** Text shown when the page is complete, and on no earlier page. */
  readonly shows: string;
}

/** Views with screenshots in the documentation. */
export const VIEWS: readonly View[] = [
  { name: 'runs', path: () => '/runs', shows: 'awaiting approval' },
  { name: 'run', path: ({ failed }) => `/runs/${failed}`, shows: 'check-line' },
  { name: 'run-step', path: ({ review }) => `/runs/${review}?step=verdict`, shows: 'Its events' },
  { name: 'timeline', path: ({ failed }) => `/runs/${failed}?tab=timeline`, shows: 'Since creation' },
  { name: 'journal', path: ({ failed }) => `/runs/${failed}?tab=journal`, shows: 'What it says' },
  { name: 'checkpoints', path: ({ completed }) => `/runs/${completed}?tab=checkpoints`, shows: 'Tokens' },
  { name: 'effects', path: ({ doubtful }) => `/runs/${doubtful}?tab=effects`, shows: 'invoice.pay' },
  { name: 'logs', path: ({ failed }) => `/runs/${failed}?tab=logs`, shows: 'logged nothing' },
  { name: 'replay', path: ({ failed }) => `/runs/${failed}?do=replay`, shows: 'What would happen' },
  { name: 'inbox', path: () => '/inbox', shows: 'Side effect in doubt' },
  { name: 'workflows', path: () => '/workflows', shows: 'Older versions with runs' },
  { name: 'workflow', path: () => '/workflows/pay-invoice', shows: 'check-line' },
  { name: 'schedules', path: ({ schedule }) => `/schedules/${schedule}`, shows: 'Next slots' },
  { name: 'health', path: () => '/health', shows: 'Findings' },
];

/** The other views: empty pages, forms and dialogs. */
export const OTHER_VIEWS: readonly View[] = [
  { name: 'nothing that matches', path: () => '/runs?tag=customer:none', shows: 'No run matches' },
  { name: 'failures by cause', path: () => '/runs?status=failed', shows: 'Failures by cause' },
  { name: 'what a search found', path: () => '/runs?q=invoice-A-4', shows: 'its thread' },
  { name: 'what no search found', path: () => '/runs?q=nothing', shows: 'No run found' },
  { name: 'no such run', path: () => '/runs/run_nothing', shows: 'Run not found' },
  { name: 'a table of steps', path: ({ failed }) => `/runs/${failed}?view=table`, shows: 'check-line' },
  { name: 'an approval step', path: ({ asking }) => `/runs/${asking}?step=approve`, shows: 'Its events' },
  { name: 'an effect', path: ({ doubtful }) => `/runs/${doubtful}?step=pay`, shows: 'Its events' },
  {
    name: 'an open event',
    path: ({ failed }) => `/runs/${failed}?tab=journal&seq=4`,
    shows: 'Hash before',
  },
  { name: 'a signal', path: ({ asking }) => `/runs/${asking}?do=signal`, shows: 'Only this run receives it' },
  { name: 'a cancel', path: ({ asking }) => `/runs/${asking}?do=cancel`, shows: 'It ends as cancelled' },
  { name: 'a resume', path: ({ failed }) => `/runs/${failed}?do=resume`, shows: 'What would happen' },
  { name: 'a fork', path: ({ failed }) => `/runs/${failed}?do=fork`, shows: 'What would happen' },
  { name: 'a long text', path: ({ successor }) => `/runs/${successor}`, shows: 'check-line' },
  { name: 'a workflow with one run', path: () => '/workflows/review-pull-request', shows: '1 run, 0 live' },
  { name: 'no such workflow', path: () => '/workflows/nothing', shows: 'No such workflow' },
  { name: 'no such schedule', path: () => '/schedules/nothing', shows: 'Schedule not found' },
  { name: 'a schedule list', path: () => '/schedules', shows: 'chain-10' },
  { name: 'no page', path: () => '/nothing', shows: 'Nothing is here' },
];
