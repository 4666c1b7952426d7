import t from 'tap';
import { expectHeld, inBlocks } from './in-blocks.ts';
import { expectMarked } from './marked.ts';

t.test('cells in columns of blanks under a name in capitals', async (t) => {
  await expectMarked(t, [
    'NAME    USER    PASSWORD          ONLINE\na       root    «calvin-R740-x»     true\nb       root    «Dell$torm 2021»   true\n',
    'NAME    PASSWORD\na       «calvin»\n\nb       calvin\n',
    'PASSWORD   AGE\n«calvin»     1d\n',
    'TOKEN                     TTL\n«b0qz7e.9mefey8u90wx5jau»   1h\n<none>                    2h\n',
    'I1 x] NAME    PASSWORD\nI1 x] a       «calvin»\n',
    'NAME    PASSWORD\r\na       «calvin»\r\n',
    'NAME    SA-TOKEN    DB_PASSWORD\na       my-token    «calvin»\n',
    // Lines between the rows, and rows with an empty cell.
    'NAME    PASSWORD\n----    --------\na       «calvin»\n',
    'NAME    PASSWORD   AGE\na                  1d\nb       «hobbes»     2d\n',
    'NAME    PASSWORD\na\nb       «hobbes»\n',
    // Bytes of one character count as columns.
    'NAME    PASSWORD\n\u00e4       «calvin»\n\u00e4\u00f6\u00fc     «hobbes»\n',
    // One column only.
    'PASSWORD\n«calvin»\n<none>\n«hobbes»\n\ncalvin\n',
    'PASSWORD   \r\n«calvin»\r\n',
    'TOKEN\n«b0qz7e.9mefey8u90wx5jau»\n',
    // The next cell ends the value, even after one blank.
    'NAME    PASSWORD  AGE\na       «calvin-R7» 1d\n',
  ]);
});

t.test('columns of blanks that are no table of secrets', async (t) => {
  await expectMarked(t, [
    'NAME      SECRETS   AGE\ndefault   0         1d\n',
    'NAME      TOKEN       AGE\ndefault   my-token    1d\n',
    'NAME   PASSWORD   AGE\na      <none>     1d\n',
    'the PASSWORD  is asked\nthe operator  types it\n',
    'NAME  PASSWORD  Age\na     calvin    1d\n',
    'name  password\na     calvin\n',
    'NAME  WEPKEY0\na     calvin\n',
    'NAME PASSWORD\na    calvin\n',
    'NAME  PASSWORD AGE\na     calvin   1d\n',
    'PASSWORD\ncalvin dial\nhobbes\n',
    'PASSWORD\n    calvin\n',
    'TOKEN\nmy-token\n<none>\n',
    '  PASSWORD  \n  calvin\n',
    'NAME    PASSWORD\na       «calvin»\n          \nb       calvin\n',
    // A word that begins in the column before.
    'NAME    PASSWORD\na long name here\n',
    'NAME    PASSWORD\nno words anymore\nb       calvin\n',
  ]);
});

t.test('cells between bars', async (t) => {
  await expectMarked(t, [
    '| Service  | User    | Password          |\n+----------+---------+-------------------+\n| grafana  | admin   | «Prom-Queen-88»     |\n| kibana   | elastic | «two words»         |\n+----------+---------+-------------------+\n',
    '| Password | User |\n|==========|======|\n| «calvin»   | a    |\n',
    ' id | email | api_token                \n----+-------+--------------------------\n  1 | a@b.c | «kyxp62b9ef0exrxt19ci5wxy»\n(1 row)\n',
    ' password | id\n----------+----\n «calvin»   | 1\n',
    '│ user │ password │\n├──────┼──────────┤\n│ bob  │ «calvin»   │\n',
    '| a | password | b |\n| 1 |          | 2 |\n| 1 | «calvin» | 2 |\n',
    'password|id\n«calvin»|1\n',
    '|a|password|b|\n|1|«calvin»|2|\n',
  ]);
});

t.test('rows with more or fewer bars end the table', async (t) => {
  await expectMarked(t, [
    '| User | Password |\nordinary words\n| bob | calvin |\n',
    '| User | Password |\n| a | calvin | b |\n',
    '| User | Password |\n| bob calvin\n',
  ]);
});

t.test('fields of CSV', async (t) => {
  await expectMarked(t, [
    'host,login,password,note\n10.9.1.4,root,"«Komma, Strich&Punkt»",rack 4\n10.9.1.5,ADMIN,«Serverraum»,rack 5\nno,row\n',
    'user;password\nbob;«calvin»\n',
    'user\tpassword\tid\nbob\t«calvin»\t7\n',
    'password,user\n«calvin»,bob\n"«with ""quotes""»",bob\n',
    '"user","password"\n"bob","«calvin»"\n',
    "'user','password'\n'bob',«'calvin'»\n",
    'user, password\nbob, "«calvin»"\nbob, «hobbes»\n',
    'user,password,note\r\nbob,«calvin»,\r\nbob,"",x\r\nbob,«hobbes»,"y"\r\n',
    'user,password\r\nbob,«calvin»\r\nbob,"«hobbes»"\r\n',
    'first name,last.name,db_password,a-b\nx,y,«calvin»,z\n',
  ]);
});

t.test('what is no CSV of secrets stays', async (t) => {
  await expectMarked(t, [
    'usages: signing,token,other\nwords follow,here,now\n',
    'login,password\none field\n',
    'login,password\na,calvin,c\n',
    'login,password\na,"calvin\n',
    'login,password;other\na,calvin;b\n',
    'login,password\n\na,calvin\n',
  ]);
});

/** A table whose 200 rows are read, with the secrets marked. */
const rows = Array.from({ length: 200 }, (_, at) => `h${at}`.padEnd(8).concat(`«calvin-${at}»\n`));
const table = `NAME    PASSWORD\n${rows.join('')}`;

t.test('a table is read up to its 200th row', async (t) => {
  await expectMarked(t, [`${table}last    calvin\n`]);
});

t.test('lines of more than 4096 bytes are no rows', async (t) => {
  const long = (text: string, bytes: number) => text + 'X'.repeat(bytes - text.length);
  await expectMarked(t, [
    `${long('NAME    PASSWORD  ', 4096)}\na       «calvin»\n`,
    `${long('NAME    PASSWORD  ', 4097)}\na       calvin\n`,
    `NAME    PASSWORD  X\n${long('a       calvin    ', 4096).replace('calvin', '«calvin»')}\n`,
    `NAME    PASSWORD  X\n${long('a       calvin    ', 4097)}\nb       calvin\n`,
  ]);
});

t.test('a table that continues in the next bytes of the stream', (t) => {
  expectHeld(t, [
    '¦NAME    PASSWORD\n',
    'words\n¦NAME    PASSWORD\na       «calvin»\n',
    'words\n¦NAME    PASSWORD\na       «calvin»\nb\n',
    'words\n¦NAME    PASSWORD\na       «calvin»\n-----   -------\n',
    'NAME    PASSWORD\na       «calvin»\n\n¦end\n',
    'user,password\nbob,«calvin»\nend\n¦words\n',
  ]);
  t.end();
});

t.test('a table of 200 rows is held back with its last row', (t) => {
  const [now, later] = inBlocks([table.replace(/[«»]/g, '')]);
  t.equal(now, '');
  t.equal(later, table.replace(/«[^»]*»/g, '#'));
  t.end();
});
