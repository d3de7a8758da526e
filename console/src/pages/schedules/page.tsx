export default function SchedulesPage(_: { readonly type?: string; readonly id?: string }) {
  return <h1>Schedules</h1>;
}
