/** The budget of the caller's tenant for today, shared by all its runs. Absent where the installation sets none. */
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { Readings } from '../../parts/readings/readings.tsx';
import { Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useAnswer } from '../../session/use-answer.ts';
import { amountText, namedLimits } from '../run/actions/decisions.ts';
import { usePart } from './use-part.tsx';

const EVERY_MS = 10_000;
/** Newest raises that are shown. `cairn budgets` shows up to 50. */
const SHOWN_RAISES = 5;

type DayBudget = Answer<'DayBudget'>;
type Amounts = DayBudget['limits'];

export function Budget() {
  const query = useAnswer(
    '/v1/budgets/today',
    {},
    {
      // Only a deployment sets limits, so there is nothing to poll without them.
      refetchInterval: ({ state: { data } }) =>
        data && namedLimits(data.limits).length === 0 ? false : EVERY_MS,
    },
  );
  const part = usePart(query, {
    what: 'the budget of today',
    absenceOf: (data) =>
      namedLimits(data.limits).length === 0 ? 'There is no budget of the day.' : undefined,
  });
  if (!part.data) return part.instead;
  const { data, failure } = part;
  const limits = namedLimits(data.limits);
  if (limits.length === 0) return failure;
  return (
    <section className="stack" aria-label="Budget of today">
      {failure}
      <h2>Budget of today</h2>
      <p className="dim">
        What all runs of your tenant may spend together until 00:00 UTC, <When at={data.nextDayAt} />. A run
        that does not fit into what is left asks in the <Link href="/inbox">inbox</Link>, and continues at
        00:00 UTC by itself.
      </p>
      <Readings
        of={limits.map(([limit, name]) => ({
          name,
          value: `${amountText(data.spent[limit])} of ${amountText(data.limits[limit])}`,
          more: data.held[limit] ? `spent, ${amountText(data.held[limit])} more reserved` : 'spent',
          isWrong: isReached(data, limit),
        }))}
      />
      {data.raises.slice(-SHOWN_RAISES).map(({ by, at, amounts }) => (
        <p key={at} className="dim">
          <Text value={by} max={200} /> {raiseText(amounts)} <When at={at} />.
        </p>
      ))}
    </section>
  );
}

/** True if nothing more may begin. Reserved amounts count. */
function isReached({ limits, spent, held }: DayBudget, limit: keyof Amounts): boolean {
  const most = limits[limit];
  return most !== undefined && millionths((spent[limit] ?? 0) + (held[limit] ?? 0)) >= millionths(most);
}

function raiseText(amounts: Amounts): string {
  const raised = namedLimits(amounts).map(([limit, name]) => `${amountText(amounts[limit])} ${name}`);
  return raised.length === 0 ? 'approved it without a raise' : `raised it by ${raised.join(', ')}`;
}

/** Money is counted in millionths; sums of its fractions are not exact. */
const millionths = (amount: number) => Math.round(amount * 1e6);
