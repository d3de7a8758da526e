/** Says in a form that starts a run that the run would wait. */
import { useQuery } from '@tanstack/react-query';
import { workflowSummaries } from '../../api/workflow-summaries.ts';
import { Text } from '../../parts/value-text.tsx';
import { useSession } from '../../session/session.ts';
import { stopText } from './stop-text.ts';

/** @param type the workflow; empty: none is chosen */
export function StopNote({ type }: { readonly type: string }) {
  const { api } = useSession();
  const { data } = useQuery({ ...workflowSummaries(api), enabled: type !== '' });
  const text = data && type !== '' ? stopText(data, type) : undefined;
  if (text === undefined) return null;
  return (
    <p className="note" role="status">
      <Text value={text} />
    </p>
  );
}
