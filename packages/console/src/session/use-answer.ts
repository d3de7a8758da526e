/** An answer of the API as a query, cached by its path and parameters. */
import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import type { AnswerOf, GetRequest, PathWith } from '../api/client.ts';
import { useSession } from './session.ts';

type AnswerOptions<P extends PathWith<'GET'>> = Omit<
  UseQueryOptions<AnswerOf<'GET', P>>,
  'queryKey' | 'queryFn'
>;

export function useAnswer<P extends PathWith<'GET'>>(
  path: P,
  question: GetRequest<P>,
  options: AnswerOptions<P> = {},
) {
  const { api } = useSession();
  return useQuery({
    queryKey: [path, question],
    queryFn: ({ signal }) => api.get(path, { ...question, signal }),
    ...options,
  });
}
