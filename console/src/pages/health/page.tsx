export default function HealthPage(_: { readonly type?: string; readonly id?: string }) {
  return <h1>Health</h1>;
}
