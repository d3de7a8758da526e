/** The caller's tenant since midnight UTC: runs, failures, and what they cost. */
import { operationsText, usdText } from '../../parts/cost-text.ts';
import { Readings } from '../../parts/readings/readings.tsx';
import { Scrolls } from '../../parts/scrolls.tsx';
import { Causes } from '../../parts/statistics/causes.tsx';
import { useStatistics } from '../../parts/statistics/use-statistics.ts';
import { shareText } from '../../parts/statistics/words.ts';
import { When } from '../../parts/when.tsx';
import { changedQuery } from '../../shell/query-text.ts';
import { causeQuery, NAMES } from '../runs/filter/filter.ts';
import { usePart } from './use-part.tsx';

const DAY_MS = 86_400_000;

/** @param isLast nothing is below */
export function Today({ isLast }: { readonly isLast: boolean }) {
  const statistics = useStatistics(
    {},
    { span: 'today', sinceOf: (now) => new Date(Math.floor(now / DAY_MS) * DAY_MS).toISOString() },
  );
  const part = usePart(statistics, { what: 'the runs of today', isLast });
  if (!part.data) return part.instead;
  const { total, isCut, from, causes } = part.data;
  const { runs, completed, failed, live, failureShare, cost } = total;
  return (
    <section className="stack" aria-label="Runs of today">
      <h2>Runs of today</h2>
      <p className="dim">
        Runs of your tenant created since{' '}
        {isCut ? (
          <>
            <When at={from} />, the newest {runs.toLocaleString('en')} of today
          </>
        ) : (
          '00:00 UTC'
        )}
        .
      </p>
      <Readings
        of={[
          { name: 'Started', value: runs.toLocaleString('en'), more: `${live} live` },
          {
            name: 'Failed',
            value: shareText(failureShare),
            more: `${failed} of ${completed + failed}`,
            isWrong: failed > 0,
          },
          {
            name: 'Cost of today',
            value: `${isCut ? 'over ' : ''}${usdText(cost.usd)}`,
            more: `${operationsText(cost)}, at list prices`,
          },
        ]}
      />
      {causes.length > 0 && (
        <Scrolls label="Failures by cause" isCard>
          <h3>Failures by cause</h3>
          <Causes
            causes={causes}
            withType
            hrefOf={(cause) => `/runs?${changedQuery('', { ...causeQuery(cause), [NAMES.since]: from })}`}
          />
        </Scrolls>
      )}
    </section>
  );
}
