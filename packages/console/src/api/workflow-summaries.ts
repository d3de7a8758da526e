/** The query of all workflows without their definitions, shared by the pages that need only names and pauses. */
import { queryOptions } from '@tanstack/react-query';
import type { Api } from './client.ts';

export const workflowSummaries = (api: Api) =>
  queryOptions({
    queryKey: ['workflows', 'summary'],
    queryFn: ({ signal }) => api.get('/v1/workflows', { query: { summary: true }, signal }),
  });
