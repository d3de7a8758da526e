/** Findings of axe-core about a page, by all of its rules, experimental and AAA ones included. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules that are left out, each with the reason. */
const LEFT_OUT = {
  'color-contrast': 'color-contrast-enhanced asks 7 to 1 where this one asks 4.5 to 1',
};
/** It is the same at every size, and takes the most time. */
const COLOURS = 'color-contrast-enhanced';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

interface Axe {
  run(options: object): Promise<{ readonly violations: readonly Violation[] }>;
  getRules(): readonly { readonly ruleId: string }[];
}

/** Once for each page that is loaded. Run by the debugger, because the page's policy allows no scripts. */
export async function addAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** @param about all rules, or those about colours, or the others */
export async function hindrances(page: Page, about: 'all' | 'colours' | 'the rest'): Promise<string[]> {
  const violations = await page.evaluate(
    async ({ leftOut, colours, about }) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const isAsked = (id: string) =>
        !leftOut.includes(id) && (about === 'all' || (id === colours) === (about === 'colours'));
      const rules = Object.fromEntries(
        axe.getRules().map(({ ruleId }) => [ruleId, { enabled: isAsked(ruleId) }]),
      );
      return (await axe.run({ rules, resultTypes: ['violations'] })).violations;
    },
    { leftOut: Object.keys(LEFT_OUT), colours: COLOURS, about },
  );
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  );
}
