/** Says in a form that starts runs that they would wait. */
import { useQuery } from '@tanstack/react-query';
import { workflowSummaries } from '../../api/workflow-summaries.ts';
import { Text } from '../../parts/value-text.tsx';
import { useSession } from '../../session/session.ts';
import { stopTexts } from './stop-text.ts';

/** Limit of the reasons shown; the page Workflows has the others. */
const MAX_SHOWN = 3;

/** @param types the workflows of the runs; none before one is chosen */
export function StopNote({ types }: { readonly types: readonly string[] }) {
  const { api } = useSession();
  const { data } = useQuery({ ...workflowSummaries(api), enabled: types.length > 0 });
  const texts = data ? stopTexts(data, types) : [];
  if (texts.length === 0) return null;
  return (
    <div className="note" role="status">
      {texts.slice(0, MAX_SHOWN).map((text) => (
        <p key={text}>
          <Text value={text} />
        </p>
      ))}
      {texts.length > MAX_SHOWN && <p>{texts.length - MAX_SHOWN} more of the workflows are paused.</p>}
    </div>
  );
}
