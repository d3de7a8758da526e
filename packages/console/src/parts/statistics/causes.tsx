/** Failed runs by their cause, each with the list of its runs and the newest of them. */
import { Link } from 'wouter';
import { type Column, StackTable } from '../tables/stack-table.tsx';
import { Text } from '../value-text.tsx';
import { countOf } from '../visible-text.ts';
import { When } from '../when.tsx';
import type { Statistics } from './use-statistics.ts';
import './statistics.css';

type Cause = Statistics['causes'][number];

interface CausesProps extends Pick<Statistics, 'causes'> {
  /** True if the causes belong to several workflows. */
  readonly withType: boolean;
  /** The list of the runs of a cause. */
  hrefOf(cause: Cause): string;
}

export function Causes({ causes, withType, hrefOf }: CausesProps) {
  const type: Column<Cause> = {
    title: 'Workflow',
    label: true,
    cell: (cause) => <Text value={cause.type} max={100} />,
  };
  const columns: readonly Column<Cause>[] = [
    {
      title: 'Runs',
      label: true,
      cell: (cause) => <Link href={hrefOf(cause)}>{countOf(cause.runs, 'run')}</Link>,
    },
    ...(withType ? [type] : []),
    {
      title: 'Step',
      label: true,
      cell: ({ step }) => (step === undefined ? '—' : <Text value={step} max={100} />),
    },
    {
      title: 'Error',
      cell: ({ code, last }) => (
        <>
          <code>{code}</code> <Text value={last.message} max={160} />
        </>
      ),
    },
    {
      title: 'Newest',
      label: true,
      cell: ({ last }) => (
        <Link href={`/runs/${last.runId}`}>
          <When at={last.at} />
        </Link>
      ),
    },
  ];
  const keyOf = ({ type, code, step }: Cause) => `${type} ${code} ${step}`;
  return <StackTable className="causes" rows={causes} columns={columns} keyOf={keyOf} />;
}
