"""Which cores a storage server's guests get: a pure plan from a snapshot."""

from vas_affinity.guest_plan.plan import plan_guests
from vas_affinity.guest_plan.request import GuestRequest, requests_of
from vas_affinity.guest_plan.settings import GuestSettings, settings_of

__all__ = ["GuestRequest", "GuestSettings", "plan_guests", "requests_of", "settings_of"]
