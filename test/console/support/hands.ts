/** The two ways to use a page: by mouse, or by keyboard alone. */
import type { Locator, Page } from 'playwright-core';
import { becomes } from './becomes.ts';

export interface Hand {
  readonly name: 'mouse' | 'keyboard';
  /** Presses a button, follows a link, ticks a box, or opens a disclosure. */
  press(part: Locator): Promise<void>;
  choose(list: Locator, option: string): Promise<void>;
  fill(field: Locator, text: string): Promise<void>;
}

const MOUSE: Hand = {
  name: 'mouse',
  press: (part) => part.click(),
  // The operating system draws the list of options, outside the page.
  async choose(list, option) {
    await list.click({ trial: true });
    await list.selectOption(option);
  },
  async fill(field, text) {
    await field.click();
    await field.fill(text);
  },
};

const KEYBOARD: Hand = {
  name: 'keyboard',
  async press(part) {
    await reach(part);
    const isBox = await part.evaluate((one) => one.matches('input[type=checkbox], input[type=radio]'));
    await part.page().keyboard.press(isBox ? 'Space' : 'Enter');
  },
  async choose(list, option) {
    // Typing selects among the loaded options.
    await list.locator('option', { hasText: option }).first().waitFor({ state: 'attached' });
    await reach(list);
    await list.page().keyboard.type(option);
    await becomes(() => list.inputValue(), option);
  },
  async fill(field, text) {
    await reach(field);
    await field.page().keyboard.press('Control+A');
    await field.page().keyboard.insertText(text);
  },
};

export const HANDS: readonly Hand[] = [MOUSE, KEYBOARD];

/** Goes to a part by Tab from the part before it. The test times out if Tab does not reach it. */
async function reach(part: Locator): Promise<void> {
  await part.waitFor();
  const { keyboard } = part.page();
  await part.focus();
  await keyboard.press('Shift+Tab');
  await becomes(() => hasFocus(part), false);
  await keyboard.press('Tab');
  await becomes(() => hasFocus(part), true);
}

export const hasFocus = (part: Locator): Promise<boolean> =>
  part.evaluate((one) => one === document.activeElement);

/** Presses Tab until every part of a dialog has had the focus. @returns the parts outside that had it */
export async function focusedOutside(page: Page, dialog: Locator): Promise<string[]> {
  const parts = await dialog.locator('a, button, input, select, textarea, summary').count();
  const outside: string[] = [];
  for (let pressed = 0; pressed <= parts; pressed += 1) {
    await page.keyboard.press('Tab');
    const at = await dialog.evaluate((one) => {
      const { activeElement: active } = document;
      // Between the last part and the first, Tab passes through the browser's own controls.
      return active === document.body || one.contains(active) ? '' : (active?.outerHTML ?? 'nothing');
    });
    if (at !== '') outside.push(at.slice(0, 200));
  }
  return outside;
}
