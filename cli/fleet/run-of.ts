import type { SiteStatus } from '../../lib/engine/report/site-status.ts';
import type { SiteObject } from './site.ts';

type Report = NonNullable<SiteStatus['report']>;
export type NodeChange = Report['changes'][number];

/** The serial of the Site to whose run a change belongs, by what its node reports; undefined: of none that is known. */
export function runOf(change: NodeChange, report: Pick<Report, 'serial'>): number | undefined {
  switch (change.change) {
    // A volume has the serial of its Site.
    case 'relocate':
      return change.serial;
    case 'install':
      return report.serial;
    case 'update':
      return change.asked;
    default:
      return undefined;
  }
}

/** What a node has said of the present run of its Site's action; undefined: nothing. */
export function reportedOf({
  spec,
  status,
}: Pick<SiteObject, 'spec' | 'status'>): NodeChange | undefined {
  const { report } = status ?? {};
  return report?.changes.find(
    (each) => each.change === spec.action && runOf(each, report) === spec.serial,
  );
}
