/** `budgets`: limits and spending of a tenant today. */
import type { Answer } from 'cairn/api/calls';
import { command } from '../arguments/command.ts';
import { table } from '../render/table.ts';
import { moment } from '../render/time.ts';

const COUNTED = ['usd', 'tokens', 'effects', 'operations'] as const;

export const readBudgets = command({
  name: 'budgets',
  summary: 'Show what all runs of a tenant have spent today (UTC), and its limits',
  options: {
    tenant: {
      type: 'text',
      value: 'TENANT',
      help: 'another tenant than that of the key; requires the role installation',
    },
  },
  examples: [
    ['budgets', 'when runs wait for the budget of the day'],
    ['budgets --tenant acme', 'as the operator of the installation'],
  ],
  async run({ api, out, notes }, { options: { tenant } }) {
    const found = await api.get('/v1/budgets/today', { query: { tenantId: tenant } });
    out.answer(found, (shape) =>
      table(
        COUNTED.filter((name) => found.limits[name] !== undefined),
        [
          { title: 'LIMIT', of: (name) => name },
          { title: 'SPENT', of: (name) => amount(found.spent[name]), align: 'right' },
          { title: 'RESERVED', of: (name) => amount(found.held[name]), align: 'right' },
          { title: 'OF', of: (name) => amount(found.limits[name]), align: 'right' },
        ],
        shape,
      ),
    );
    if (out.json) return;
    const isLimited = COUNTED.some((name) => found.limits[name] !== undefined);
    const next = `The next day begins at ${moment(found.nextDayAt)}.`;
    notes.print(isLimited ? `${next}\n` : `${found.tenantId} has no budget of the day.\n`);
    for (const one of found.raises) notes.print(`${raiseText(one)}\n`);
  },
});

function raiseText({ by, at, amounts }: Answer<'DayBudget'>['raises'][number]): string {
  const raised = COUNTED.flatMap((name) => (amounts[name] ? [`${amount(amounts[name])} ${name}`] : []));
  const what = raised.length === 0 ? 'approved it without a raise' : `raised it by ${raised.join(', ')}`;
  return `${by} ${what}, ${moment(at)}`;
}

/** All digits, without binary rounding errors. */
function amount(value = 0): string {
  return String(Number(value.toFixed(6)));
}
