/** The text that steps of the run stream, followed while the tab is open. */
import { isTextKind, type StreamedLine, type StreamedTexts, withLine } from '@cairn/client';
import { useEffect, useState } from 'react';
import { targetOf } from '../../../api/client.ts';
import { followStream } from '../../../api/stream.ts';
import { useSession } from '../../../session/session.ts';

/** Short enough to seem immediate, long enough to render the pieces of a batch together. */
const GATHER_MS = 80;
const NO_TEXTS: StreamedTexts = new Map();

interface StreamedState {
  readonly texts: StreamedTexts;
  readonly error: unknown;
}

/** @param step key of a step, or its id to include its items */
export function useStreamedText(id: string, step: string | undefined): StreamedState {
  const { api } = useSession();
  const [streamed, show] = useState<StreamedState>({ texts: NO_TEXTS, error: undefined });
  useEffect(() => {
    const over = new AbortController();
    let texts = NO_TEXTS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    show({ texts, error: undefined });
    void followStream(
      api,
      {
        target: (follow) =>
          targetOf('/v1/runs/{id}/logs/stream', { params: { id }, query: { kind: 'text', step, ...follow } }),
        onState: () => {},
        onMessage: ({ event = '', data }) => {
          if (!isTextKind(event)) return;
          texts = withLine(texts, { ...(JSON.parse(data) as StreamedLine), kind: event } as StreamedLine);
          timer ??= setTimeout(() => {
            timer = undefined;
            show({ texts, error: undefined });
          }, GATHER_MS);
        },
        onRefused: (error) => show({ texts, error }),
      },
      over.signal,
    );
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [api, id, step]);
  return streamed;
}
