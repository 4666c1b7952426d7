import t from 'tap';
import { expectMarked } from './marked.ts';

const hex = (text: string) => Buffer.from(text).toString('hex').toUpperCase();

t.test('arguments of a command in a record of auditd', async (t) => {
  await expectMarked(t, [
    `argc=3 a0="app" a1="--password" a2="«hunter22»"`,
    `argc=3 a0="app" a1="--password" a2=«${hex('hunter 22')}»`,
    `argc=3 a0="app" a1="--password" a2="«hunter22»" a3="b"`,
    `argc=2 a0="mysql" a1="-p«hunter22»"`,
    `argc=4 a0="app" a1="--db-password=«hunter22»" a2="--x=y" a3="z"`,
    `argc=2 a0="curl" a1="https://me:«hunter22»@host/path"`,
    `argc=3 a0="sh" a1="-c" a2=«${hex("echo 'root:hunter22' | chpasswd")}»`,
    `argc=4 a0="app" a1="" a2="--password" a3="«hunter22»"`,
    `argc=2 a0="sh" a1=${hex('ls /a b')} a2="--password" a3="«hunter22»"`,
    `argc=2 a0="app" a1="b" password="«hunter 22»"`,
    // A long argument is in several parts.
    `argc=3 a0="app" a1="--password" a2_len=12 a2[0]=«${hex('hunter')}» a2[1]="b"`,
    // What is no argument.
    `argc=3 a0="app" a1="--password" xa2="hunter22"`,
    `argc=3 a0="app" a1="--password" a2=«${hex('hu')}»`,
    `argc=3 a0="ls" a1="-l" a2=${hex('/a directory')}`,
  ]);
});

t.test('a command or an input in hexadecimal', async (t) => {
  const command = hex('mysql -phunter22 x');
  await expectMarked(t, [
    `proctitle=«${hex('app\0--password\0hunter22')}»`,
    `proctitle=${hex('app\0--verbose\0hunter22')}`,
    `msg='cwd="/" cmd=«${command}» res=success'`,
    `msg='cwd="/" cmd=${hex('systemctl status x')} res=success'`,
    `type=TTY data=«${command}» b`,
    `proctitle=«${command}» cmd=«${command}» data=«${command}»`,
    `proctitle=${hex('mysql -uroot')} cmd=«${command}»`,
    `proctitle="mysql -p«hunter22» x" b`,
    `proctitle=${command}G`,
  ]);
});
