import type { Settings } from '../../settings.ts'
import { DEFAULT_RULES, type Rules } from '../../timetable/rules.ts'

/** The rules of a search as the operator has set them. */
export function rulesOf(settings: Settings): Rules {
  return {
    ...DEFAULT_RULES,
    minimumConnection: settings.minimumConnection,
    longestConnection: settings.longestConnectionMinutes,
  }
}
