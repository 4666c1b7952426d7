import t from 'tap';
import { wakeUpsOf } from '../../../lab/checks/at-rest.ts';

const shown = (id: string, state: string, ...timers: readonly string[]) =>
  [`Id=${id}`, `ActiveState=${state}`, ...timers].join('\n');

const daily = (hour: string) =>
  `TimersCalendar={ OnCalendar=*-*-* ${hour}:00:00 ; next_elapse=Tue 2026-11-24 ${hour}:00:00 UTC }`;

t.test('counts what wakes the host in a day', async (t) => {
  const text = [
    shown('sno-backup.timer', 'active', daily('01')),
    shown('sno-renew.timer', 'active', daily('02'), daily('14')),
    shown('sno-trial.timer', 'inactive', 'TimersMonotonic={ OnActiveUSec=1h ; next_elapse=0 }'),
  ].join('\n\n');
  t.same(wakeUpsOf(text), { 'sno-backup.timer': 1, 'sno-renew.timer': 2 });
});

t.test('a timer of another kind is never taken as a daily one', async (t) => {
  const hourly = 'TimersCalendar={ OnCalendar=*-*-* *:00:00 ; next_elapse=n/a }';
  const monotonic = 'TimersMonotonic={ OnUnitActiveUSec=10min ; next_elapse=9min }';
  t.same(wakeUpsOf(shown('sno-a.timer', 'active', hourly)), { 'sno-a.timer': Infinity });
  t.same(wakeUpsOf(shown('sno-b.timer', 'active', monotonic)), { 'sno-b.timer': Infinity });
});
