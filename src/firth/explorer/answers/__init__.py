"""What pages show where one call of a model is not enough: functions of values, apart from the browser."""
