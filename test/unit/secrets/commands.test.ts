import t from 'tap';
import { expectMarked } from './marked.ts';

const R = 'Zq8mK2vW4tYxR6nB';
const hex = (text: string) => Buffer.from(text).toString('hex').toUpperCase();

t.test('passwords in command lines whose options say nothing of it', async (t) => {
  await expectMarked(t, [
    'mysql -uroot -p«hunter22» db',
    "mysqldump -p'«hunter 22»' db",
    '["mysql","-uroot","-p«hunter22»","db"]',
    'mysql\0-uroot\0-p«hunter22»\0',
    'mysqld --port=3306 -P 3306',
    'podman login -u me -p «hunter22» quay.io',
    '["oc","login","-u","me","-p","«hunter22»"]',
    'ldapsearch -x -D cn=x -w «hunter22» -b dc=x',
    'redis-cli -h r -a «hunter22» ping',
    'unzip -P «hunter22» x.zip',
    'snmpwalk -v3 -A «hunter22» -X «hunter23» host',
    'iscsiadm -m node -n node.session.auth.password -v «hunter22»',
    'lftp -u me,«hunter22» host',
    'htpasswd -bB /etc/x me «hunter22» b',
    'htpasswd -nbB me «hunter22» > x',
    'wpa_passphrase home «hunter22» b',
    'sqlplus me/«hunter22@db»',
    'vault login -no-print «hunter22»',
    'smbclient //s/x -U me%«hunter22» b',
    'curl -U me:«hunter22» https://host',
    'oc create secret generic x --from-literal=a=«hunter22» --from-literal b=«hunter23»',
    'oc create configmap x --from-literal=a=hunter22',
    'kubeadm join --certificate-key «0123456789abcdef0123456789abcdef» b',
  ]);
});

t.test('what a shell gives to a program that reads a password', async (t) => {
  await expectMarked(t, [
    "echo 'root:«hunter 22»' | chpasswd",
    'echo root:«hunter22» | chpasswd -e',
    'echo -n «hunter22» | podman login --password-stdin quay.io',
    "printf '%s\\n' '«hunter 22»' | cryptsetup open /dev/sda x -",
    'echo "«hunter22»" | sudo -S reboot',
    'echo «hunter22» | passwd --stdin root',
    'chpasswd <<< "root:«hunter 22»"',
    'passwd --stdin root <<< «hunter22»',
    'chpasswd <<EOF\nroot:«hunter22»\ncore:«hunter 23»\nEOF\nroot:hunter22\n',
    'chpasswd <<EOF\na:«hunter22»\nEOF\n',
    'chpasswd:\n  list: |\n    root:«hunter22»\n    core:«hunter23»\n  expire: false\nb: c\n',
    'chpasswd:\n  list:\n  - root:«hunter22»\n',
    'echo words | grep chpasswd',
  ]);
});

t.test('command lines in the records of auditd', async (t) => {
  await expectMarked(t, [
    `argc=3 a0="app" a1="--password" a2="«hunter22»"`,
    `argc=3 a0="app" a1="--password" a2=«${hex('hunter 22')}»`,
    `argc=2 a0="mysql" a1="-p«hunter22»"`,
    `argc=3 a0="sh" a1="-c" a2=«${hex("echo 'root:hunter22' | chpasswd")}»`,
    `argc=3 a0="ls" a1="-l" a2=${hex('/a directory')}`,
    `proctitle=«${hex('app\0--password\0hunter22')}»`,
    `proctitle=${hex('app\0--verbose\0hunter22')}`,
    `msg='cwd="/" cmd=«${hex('mysql -phunter22 x')}» res=success'`,
    `msg='cwd="/" cmd=${hex('systemctl status x')} res=success'`,
  ]);
});

t.test('databases, directories, name servers', async (t) => {
  await expectMarked(t, [
    "ALTER USER me WITH PASSWORD '«hunter 22»' b",
    "CREATE USER 'me'@'%' IDENTIFIED BY '«hunter 22»' b",
    "IDENTIFIED WITH mysql_native_password BY '«hunter22»'",
    "SET PASSWORD FOR me = PASSWORD('«hunter 22»')",
    'dn: cn=x\nuserPassword:: «aHVudGVyMjI=»\nuid: b\n',
    `dn: cn=x\nuserPassword:: «${'aHVudGVyMjI'.repeat(7)}»\n «aHVudGVyMjI=»\nuid: b\n`,
    'userPassword: «{SSHA}iY4ggdV8hcrXC4drl9lyDA==»\n',
    'bindpw «hunter 22»\nbinddn cn=x',
    'machine a login me password «hunter22»\nmachine b',
    'machine a\n  login me\n  password «hunter22»\n',
    'default login me password «hunter22» b',
    `key "x" { algorithm hmac-sha256; secret "«${R}»"; };`,
    `nsupdate -y hmac-sha256:x.y:«${R}==» b`,
    `> key x.y «${R}==»`,
    'createUser me SHA "«hunter22»" AES "«hunter23»"',
    'set superusers="root"\npassword_pbkdf2 root «grub.pbkdf2.sha512.10000.0A1B.0A1B0A1B0A1B0A1B0A1B0A1B»',
  ]);
});

t.test('users and passwords in one word', async (t) => {
  await expectMarked(t, [
    'http_proxy=me:«hunter22»@proxy:3128',
    'proxy: "me:«hunter22»@proxy" b',
    'CONNECT via me:«hunter22»@10.0.0.1:3128 failed',
    '(me:«hunter22»@[fd00::1]:3128)',
    'netroot=iscsi:me:«hunter22»@10.0.0.1::3260::iqn.x ro',
    'netroot=iscsi:me:«hunter22:you:hunter23»@10.0.0.1::::iqn.x',
    'ETCDCTL_USER=root:«hunter22» etcdctl get x',
    'at 10:27:00@host:22, ssh core@10.0.0.1:22, a/b:c@d:80',
    'docker://a:b@sha256:0a1b, mailto:a@b:80, sip:me@host:5060',
  ]);
});

t.test('headers of any scheme', async (t) => {
  await expectMarked(t, [
    'Authorization: Token «correcthorse» b',
    `Authorization: ApiKey «${R}» b`,
    `"Authorization":["Splunk «${R}»"],"b":"c"`,
    `authorization=«GenieKey%20${R}»&b=c`,
    `map[Authorization:[AWS «${R}»] A:[b]]`,
    'Authorization: Digest username="me", realm="x", response="«0123456789abcdef0123456789abcdef»"',
    'Authorization: header missing, authorization: RBAC denied',
  ]);
});
