"""Plans the cores of a storage server's guests: a pure function of a snapshot."""

from vas_affinity.guest_plan.plan import plan_guests
from vas_affinity.guest_plan.request import GuestRequest, requests_of
from vas_affinity.guest_plan.settings import GuestPlanSettings, settings_of

__all__ = ["GuestPlanSettings", "GuestRequest", "plan_guests", "requests_of", "settings_of"]
