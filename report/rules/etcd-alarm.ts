import type { Rule } from '../bundle-view.ts';
import { FREE_SPACE, RESTORE } from '../reading/etcd-advice.ts';
import { evidence } from '../reading/evidence.ts';
import { hostFiles } from '../reading/hosts.ts';

/** etcd rejects writes while an alarm is raised (etcd, operations guide, maintenance: space quota). */
const ALARM = /\b(NOSPACE|CORRUPT)\b/;

export const etcdAlarm: Rule = {
  name: 'etcd-alarm',
  looksFor:
    "etcd's alarms NOSPACE (its database has reached its quota, and nothing can be written) and CORRUPT",
  todo: `NOSPACE: delete what fills the database, then free its space and take the alarm back. ${FREE_SPACE} CORRUPT: ${RESTORE}`,
  find(view) {
    return hostFiles(view, 'etcd/alarms.json').flatMap((path) => {
      const lines = view.lines(path).flatMap((line, index) => {
        const alarm = ALARM.exec(line)?.[1];
        return alarm === undefined
          ? []
          : [{ alarm, where: evidence(path, index + 1, line, alarm) }];
      });
      const alarms = [...new Set(lines.map(({ alarm }) => alarm))];
      if (alarms.length === 0) return [];
      return [
        {
          severity: 'failing',
          title: `etcd has raised the alarm ${alarms.join(' and ')}: nothing can be written`,
          evidence: lines.map(({ where }) => where),
        },
      ];
    });
  },
};
