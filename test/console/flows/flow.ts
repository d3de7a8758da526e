/** A task that a person does in the console, with the mouse or the keyboard. */
import type { Page } from 'playwright-core';
import type { ConsoleCloud } from '../support/cloud.ts';
import type { Hand } from '../support/hands.ts';
import type { Showcase } from '../support/showcase.ts';

export interface FlowContext {
  readonly page: Page;
  readonly hand: Hand;
  readonly show: Showcase;
  readonly call: ConsoleCloud['call'];
  /** Navigates within the open console. */
  go(path: string): Promise<void>;
}

export interface Flow {
  readonly name: string;
  path(show: Showcase): string;
  run(context: FlowContext): Promise<void>;
}
