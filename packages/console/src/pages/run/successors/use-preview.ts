/** The preview of a successor, requested again with each change of the choices. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { planned } from '../../../api/client.ts';
import { useSession } from '../../../session/session.ts';
import type { PreviewBody } from './request.ts';
import type { Preview } from './words.ts';

/** Pause in typing before a request. */
const PAUSE_MS = 300;

export type PreviewState =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'asking'; readonly before: Preview | undefined }
  | { readonly kind: 'failed'; readonly error: unknown; again(): void }
  | { readonly kind: 'ready'; readonly body: PreviewBody; readonly preview: Preview };

/** @param body undefined while the form is incomplete */
export function usePreview(runId: string, body: PreviewBody | undefined): PreviewState {
  const { api } = useSession();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const settledText = useSettled(text);
  const { data, error, isPlaceholderData, refetch } = useQuery({
    queryKey: ['run', runId, 'preview', settledText],
    enabled: settledText !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const parsed = JSON.parse(settledText ?? '') as PreviewBody;
      const sending = planned('POST', '/v1/runs/{id}/preview', { params: { id: runId }, body: parsed });
      return { body: parsed, preview: await api.preview(sending) };
    },
  });
  if (text === undefined) return { kind: 'incomplete' };
  if (text !== settledText || (!error && (!data || isPlaceholderData)))
    return { kind: 'asking', before: data?.preview };
  return data && !error ? { kind: 'ready', ...data } : { kind: 'failed', error, again: () => void refetch() };
}

/** Returns the text once it has not changed for a while; the first text at once. */
function useSettled(text: string | undefined): string | undefined {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    if (text === settled) return;
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, settled]);
  return settled;
}
