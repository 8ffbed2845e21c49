"""Every id that travels through Slack and back: commands, actions, views, blocks. They are wire words: renaming one
breaks the buttons of messages that are already posted."""

# Buttons
FIXED = "precedent.fixed"
RECORD = "precedent.record"
MORE = "precedent.more"
NOT_SAME = "precedent.not_same"
DETAILS = "precedent.details"
AGAIN = "precedent.again"  # with ".<answer>" after it
MEMO = "precedent.memo"  # with ".<answer>" after it
NUDGE = "precedent.nudge"  # with ".<answer>" after it
BRIEF_ACTIONS = "precedent.brief"
PREVIEW = "precedent.preview"
HELLO_ACTIONS = "precedent.hello"
CHANGE_CHANNEL = "precedent.change_channel"
UNDO = "precedent.undo"
SAME_FIX = "precedent.same_fix"
OTHER_FIXES = "precedent.other_fixes"
PAGE = "precedent.page"  # with ".previous" or ".next" after it
SHARE = "precedent.share"
ASK_MODEL = "precedent.ask_model"
RECALL_ACTIONS = "precedent.lookup"

# What the menu under a brief offers
COMPARE = "compare"
MUTE = "mute"
NOT_ALERT = "not_alert"
WRONG = "wrong"
# What Undo ends, beside rules and mutes
DISMISSED = "aside"
POSTMORTEM = "postmortem"

# Shortcuts on a message
RESOLVE_FROM_MESSAGE = "resolve_from_message"
RECALL_FROM_MESSAGE = "recall_from_message"

# Views
RESOLVE_VIEW = "precedent.resolve"
PICK_VIEW = "precedent.pick"
CHANNEL_VIEW = "precedent.channel"
MUTE_VIEW = "precedent.mute"
NOT_ALERT_VIEW = "precedent.not_alert"
WRONG_VIEW = "precedent.wrong"
EDIT_VIEW = "precedent.edit"
RETRACT_VIEW = "precedent.retract"
PURGE_VIEW = "precedent.purge"
INFO_VIEW = "precedent.told"
SHARE_VIEW = "precedent.share_to"

# Blocks of the resolve view; each holds one input whose action id is `INPUT`
INPUT = "value"
OUTCOME = "outcome"
KNOWN_FIX = "known_fix"
FIX = "fix"
ROOT_CAUSE = "root_cause"
BOUNDARY = "boundary"
FAILED_CHECKS = "failed_checks"
LESSON = "lesson"
KNOWN_CHECKS = "known_checks"
RUNBOOK = "runbook"
IMPACT = "customer_impact"
ALSO = "also"
ALSO_OUTCOME = "also_outcome"
# What is no input there: the buttons, and the line that says what they did
FROM_THREAD = "precedent.from_thread"  # with ".<block>" after it
MORE_FIELDS = "precedent.more_fields"
THREAD_NOTE = "thread_note"
# Block of the view that shares
TARGET = "target"
# Block of the picker
INCIDENT = "incident"

# Blocks of the channel view
SOURCES = "sources"
MINIMUM = "minimum"
MENTION = "tell"
QUIET = "quiet"
DIGEST_DAY = "digest_day"
DIGEST_HOUR = "digest_hour"
ZONE = "zone"
NUDGES = "nudges"
POOL = "pool"
SHARED = "shared"
MODEL = "model"
# Blocks of the views that silence
WHAT = "what"
UNTIL = "until"
UNTIL_TIME = "until_time"
REASON = "reason"
REACH = "reach"
# Blocks of the view that sets a precedent aside
PRECEDENT = "precedent_id"
WHY = "why"
PIN = "pin"

SOMETHING_ELSE = "else"
