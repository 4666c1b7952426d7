import t from 'tap';
import { expectMarked } from './marked.ts';

const R = 'Zq8mK2vW4tYxR6nB';

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
    'htpasswd -bB /etc/x me «hunter22» b',
    'htpasswd -nbB me «hunter22» > x',
    'wpa_passphrase home «hunter22» b',
    'vault login -no-print «hunter22»',
    'smbclient //s/x -U me%«hunter22» b',
    'curl -U me:«hunter22» https://host',
    'oc create secret generic x --from-literal=a=«hunter22» --from-literal b=«hunter23»',
    'oc create configmap x --from-literal=a=hunter22',
    'kubeadm join --certificate-key «0123456789abcdef0123456789abcdef» b',
  ]);
});

t.test('an option is followed by its value, in any form of a command line', async (t) => {
  const words = (length: number) => ' ab'.repeat(length / 3);
  await expectMarked(t, [
    // Next to the option, after a blank, an equals sign or NUL, or as the next string of a list.
    'sshpass -p«hunter22» b',
    'sshpass -p=«hunter22» b',
    'sshpass -p "«hunter 22»" b',
    'sshpass\0-p\0«hunter22»\0b\0',
    `["sshpass", "-p", "«hunter 22»", "b"]`,
    `{\\"a\\":[\\"sshpass\\",\\"-p\\",\\"«hunter 22»\\"]}`,
    // What is given is a secret; a variable, a placeholder and the next option are none.
    'sshpass -p $PASSWORD b',
    'sshpass -p *** b',
    'sshpass -p -v b',
    'sshpass x-p hunter22',
    'redis-cli -a none ping',
    'ldapsearch -x -W -D cn=x',
    'vault login $TOKEN',
    'vault login none',
    'curl -u me:$PASSWORD https://host',
    'curl -u me:*** https://host',
    'oc create secret generic x --from-literal=a=***',
    'chpasswd <<< root:$PASSWORD',
    'echo $PASSWORD | sudo -S reboot',
    `sshpass${words(570)} -p «hunter22»`,
    `sshpass${words(600)} -p hunter22`,
    `echo «hunter22»${' '.repeat(8)}|${' '.repeat(8)}sudo -S reboot`,
    `echo «${'x'.repeat(256)}» | chpasswd`,
    'snmpget -A «one1» -X «two2» -c «three3» b',
    'iscsiadm -n node.session.auth.password --value «hunter22» b',
    'htpasswd -b x me «hunter22»',
    'htpasswd x me hunter22',
    'wpa_passphrase home «hunter22»',
    'vault login -method=x token=«hunter22» b',
    'vault operator unseal -migrate «hunter22» b',
    'rootpw --iscrypted --x «hunter22»',
    'openssl rsa -passin=pass:«hunter22» b',
    'openssl rsa -passout "pass:«hunter22»" b',
    'openssl rsa -passout pass:$PASSWORD b',
    'curl --user "me:«hunter22»" b',
    'smbclient -U "me%«hunter22»" b',
    'skopeo --creds=me:«123x» --user me:123456 --user me:«1234567»',
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
    'echo words | grep chpasswd',
    'printf "root:«hunter22»\\n" | /usr/sbin/chpasswd',
    'echo «hunter22» | sudo kinit me',
    'echo «hunter22» | buildah registry login -u me --password-stdin quay.io',
    'echo hunter22 | cat | podman login --password-stdin',
    'kinit me <<<«hunter22»',
    'cryptsetup open /dev/sda x <<< $"«hunter 22»"',
    'cryptsetup open < x | cat <<< words',
  ]);
});

t.test('databases, directories', async (t) => {
  await expectMarked(t, [
    "ALTER USER me WITH PASSWORD '«hunter 22»' b",
    "CREATE USER 'me'@'%' IDENTIFIED BY '«hunter 22»' b",
    "IDENTIFIED WITH mysql_native_password BY '«hunter22»'",
    "SET PASSWORD FOR me = PASSWORD('«hunter 22»')",
    'dn: cn=x\nuserPassword:: «aHVudGVyMjI=»\nuid: b\n',
    'userPassword: «{SSHA}iY4ggdV8hcrXC4drl9lyDA==»\n',
    'machine a login me password «hunter22»\nmachine b',
    'machine a\n  login me\n  password «hunter22»\n',
    'default login me password «hunter22» b',
    `key "x" { algorithm hmac-sha256; secret "«${R}»"; };`,
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
