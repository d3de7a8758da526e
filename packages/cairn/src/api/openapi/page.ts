/**
 * The document as a web page. Static: no script and no external resources, so it works with any content security
 * policy.
 */
import { createHash } from 'node:crypto';
import type { OpenApi, OpenApiOperation } from './document.ts';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font: 0.875rem/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid; border-radius: 0.25rem; }
h3 { margin-bottom: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0; border-top: 1px solid; }
`;

/** Allows only the page's own style. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function htmlOf(document: OpenApi): string {
  const { info, paths, components } = document;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = Map.groupBy(routes, ({ path }) => path.split('/')[2] ?? '');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(info.title)} API</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${text(info.title)} API <small>${text(info.version)}</small></h1>
<p>${prose(info.description)} Machine-readable: <a href="/v1/openapi.json">openapi.json</a>.</p>
${[...byTag].map(([tag, those]) => `<h2>${text(tag)}</h2>\n${those.map(routeOf).join('\n')}`).join('\n')}
<h2>Schemas</h2>
${Object.entries(components.schemas)
  .map(([name, schema]) => `<h3 id="${text(name)}">${text(name)}</h3>\n${json(schema)}`)
  .join('\n')}
</body>
</html>
`;
}

interface DocumentedRoute {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
}

function routeOf({ path, method, operation }: DocumentedRoute): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const call = [
    ...asList(parameters).map((one) => row(`${one.in} ${one.name}`, String(one.description ?? ''))),
    ...(requestBody === undefined ? [] : [row('body', schemaOf(requestBody), 'as is')]),
  ];
  const answers = Object.entries(responses as Readonly<Record<string, Readonly<Record<string, unknown>>>>)
    .map(([status, answer]) =>
      row(status, `${prose(String(answer.description))}. ${schemaOf(answer)}`, 'as is'),
    )
    .join('');
  return `<section id="${text(operationId)}">
<h3><code>${text(method.toUpperCase())} ${text(path)}</code></h3>
<p>${prose(summary)}. ${prose(typeof description === 'string' ? description : 'Public.')}</p>
<table>${call.join('')}${answers}</table>
</section>`;
}

function asList(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

function row(head: string, what: string, form: 'text' | 'as is' = 'text'): string {
  return `<tr><th scope="row">${text(head)}</th><td>${form === 'text' ? prose(what) : what}</td></tr>`;
}

/** A link to the schema that a body or an answer has, if it has one. */
function schemaOf(part: unknown): string {
  const [, name] = /"\$ref":"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(part)) ?? [];
  return name === undefined ? '' : `<a href="#${name}">${name}</a>`;
}

function json(value: unknown): string {
  return `<pre>${text(JSON.stringify(value, null, 2))}</pre>`;
}

/** Words between backquotes are code. */
function prose(value: string): string {
  return text(value).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function text(value: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return value.replace(/[&<>"]/g, (char) => names[char] ?? char);
}
