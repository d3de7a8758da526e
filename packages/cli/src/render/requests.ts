/** Replaces API requests in hints by commands. Pure. */

/** `$1` is the run, `$2` the effect. */
const COMMANDS: readonly (readonly [request: RegExp, command: string])[] = [
  [/GET \/v1\/workflows\b(?!\/)/g, 'cairn workflows'],
  [/GET \/v1\/schedules lists/g, 'cairn schedules list shows'],
  [/GET \/v1\/runs\/([^\s/]+)\/steps/g, 'cairn runs steps $1'],
  [/GET \/v1\/runs\/([^\s/]+)\/consistency/g, 'cairn check $1'],
  [/POST \/v1\/runs\/([^\s/]+)\/continue, or `cairn runs continue`/g, 'cairn runs continue $1'],
  [/POST \/v1\/runs\/([^\s/]+)\/approvals\/\{stepId\} and `data`/g, 'cairn runs approve $1 --data JSON'],
  [/POST \/v1\/runs\/([^\s/]+)\/effects\/([^\s/]+)\/resolve/g, 'cairn effects resolve $1 $2'],
  [
    /Send `Authorization: Bearer(?: cairn_<client>_<secret>`, or a Firebase ID token instead|` with an API key or an ID token)/g,
    'Set CAIRN_API_KEY to a valid key, or name a file with one: --key-file FILE',
  ],
];

export function withCommands(help: string): string {
  return COMMANDS.reduce((text, [request, command]) => text.replaceAll(request, command), help).replaceAll(
    /(cairn [a-z ]+)\{id\}/g,
    '$1RUN',
  );
}
