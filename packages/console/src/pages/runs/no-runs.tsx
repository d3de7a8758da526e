/** The empty list of runs: how to start the first, or how to widen the filter. */

import { cliText } from '../../parts/command-text.ts';
import { Copyable } from '../../parts/commands.tsx';
import { Empty } from '../../parts/states.tsx';
import { Text } from '../../parts/value-text.tsx';
import { useSession } from '../../session/session.ts';
import { useQueryChange } from '../../shell/address.ts';
import { CHILDREN, filterText, NAMES, type RunListFilter } from './filter/filter.ts';

interface NoRunsProps {
  readonly filter: RunListFilter;
  readonly isFiltered: boolean;
  /** Child runs that match. */
  readonly leftOut: number;
}

export function NoRuns({ filter, isFiltered, leftOut }: NoRunsProps) {
  const { local } = useSession();
  const change = useQueryChange();
  if (leftOut > 0) {
    return (
      <Empty title="Only child runs match">
        <p>{leftOut === 1 ? 'One child run is' : `${leftOut} child runs are`} left out of the list.</p>
        <button type="button" onClick={() => change({ [CHILDREN]: '1' })}>
          Show child runs
        </button>
      </Empty>
    );
  }
  if (isFiltered) {
    return (
      <Empty title="No run matches">
        <p>
          The filter: <Text value={filterText(filter)} />.
        </p>
        <button
          type="button"
          onClick={() => change(Object.fromEntries(Object.values(NAMES).map((name) => [name, undefined])))}
        >
          Show all runs
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet">
      {local ? (
        <div className="first-steps stack">
          <p>
            Choose <em>Start a run</em> above, or paste the first command into a terminal. The run appears
            here by itself. The other commands show the list of runs, and the side effects of the run.
          </p>
          {local.firstSteps.map((command) => (
            <Copyable key={command} label="first" text={command} />
          ))}
        </div>
      ) : (
        <div className="first-steps stack">
          <p>
            A webhook, a slash command, a schedule, a message or a request starts a run, which appears here by
            itself. The page <a href="/workflows">Workflows</a> lists the triggers of each workflow.
          </p>
          <Copyable label="cairn" text={cliText(['runs', 'start', 'TYPE', '--input', '@input.json'])} />
        </div>
      )}
    </Empty>
  );
}
