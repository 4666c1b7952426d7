import t from 'tap';
import { expectMarked, safe } from './marked.ts';

t.test('the cells under a name in the header of a table', async (t) => {
  await expectMarked(t, [
    // kubectl and oc: capitals, aligned by blanks.
    'NAME    USER    PASSWORD          ONLINE\na       root    «calvin-R740-x»     true\nb       root    «Dell$torm 2021»   true\n',
    'NAME    PASSWORD\na       «calvin»\n\nb       calvin\n',
    'TOKEN                     TTL\n«b0qz7e.9mefey8u90wx5jau»   1h\n<none>                    2h\n',
    'I1 x] NAME    PASSWORD\nI1 x] a       «calvin»\n',
    // Between bars, also of a terminal.
    '| Service  | User    | Password          |\n+----------+---------+-------------------+\n| grafana  | admin   | «Prom-Queen-88»     |\n| kibana   | elastic | «two words»         |\n+----------+---------+-------------------+\n',
    ' id | email | api_token                \n----+-------+--------------------------\n  1 | a@b.c | «kyxp62b9ef0exrxt19ci5wxy»\n(1 row)\n',
    '│ user │ password │\n│ bob  │ «calvin»   │\n',
    // CSV.
    'host,login,password,note\n10.9.1.4,root,"«Komma, Strich&Punkt»",rack 4\n10.9.1.5,ADMIN,«Serverraum»,rack 5\nno,row\n',
    'user;password\nbob;«calvin»\n',
  ]);
});

t.test('what is no table of secrets stays', async (t) => {
  await expectMarked(t, [
    'NAME      SECRETS   AGE\ndefault   0         1d\n',
    'NAME      TOKEN       AGE\ndefault   my-token    1d\n',
    'NAME   PASSWORD   AGE\na      <none>     1d\n',
    'the PASSWORD  is asked\nthe operator  types it\n',
    '| User | Password |\nordinary words\n',
    'usages: signing,token,other\nwords follow,here,now\n',
    'login,password\none field\n',
    'NAME    PASSWORD\nshort\n',
  ]);
});

t.test('a table that goes on in the next bytes of the stream', async (t) => {
  const row = (name: string, value: string) => `${name.padEnd(12)}${value}\n`;
  const rows = Array.from({ length: 150 }, (_, at) => row(`host-${at}`, `calvin-R740-${at}`));
  const table = row('NAME', 'PASSWORD') + rows.join('');
  const output = await safe(`${'ordinary words\n'.repeat(4366)}${table}\nend\n`, { size: 1 << 16 });
  t.notMatch(output, /calvin/);
  t.ok(output.endsWith('#\n\nend\n'));
});
