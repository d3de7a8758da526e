/** Every page of the console, by what is there when it is whole. */
import type { Showcase } from './showcase.ts';

export interface View {
  readonly name: string;
  path(show: Showcase): string;
  /** Text shown when the page is complete, and on no earlier page. */
  readonly shows: string;
}

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
  { name: 'inbox', path: () => '/inbox', shows: 'Outside action in doubt' },
  { name: 'workflows', path: () => '/workflows', shows: 'Older versions with runs' },
  { name: 'workflow', path: () => '/workflows/pay-invoice', shows: 'check-line' },
  { name: 'schedules', path: ({ schedule }) => `/schedules/${schedule}`, shows: 'Next slots' },
  { name: 'health', path: () => '/health', shows: 'Findings' },
];
