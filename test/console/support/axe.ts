/** Checks pages with all rules of axe-core, including the experimental and AAA rules. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules that are not checked, each with the reason. */
const LEFT_OUT = {
  'color-contrast': 'color-contrast-enhanced requires 7 to 1, this rule only 4.5 to 1',
};
/** The slowest rule. Its result does not depend on the size of the page. */
const COLOURS = 'color-contrast-enhanced';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

interface Axe {
  run(options: object): Promise<{ readonly violations: readonly Violation[] }>;
  getRules(): readonly { readonly ruleId: string }[];
}

/** Loads axe. Needed after each page load. It runs through the debugger, because the page's policy forbids scripts. */
export async function addAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

export async function violationsOf(page: Page, about: 'all' | 'colours' | 'the rest'): Promise<string[]> {
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
